// The workspace of the job: its files, and a search through them.

import { useEffect, useState } from "preact/hooks";
import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { bytes, short } from "../lib/format";
import { place } from "../lib/route";
import type { JobFile } from "../lib/types";
import { Badge, Empty, Html, Loading } from "../parts/basic";
import { useJob } from "./context";
import type { FileText } from "./doc";

export function Files() {
  const { id, d, tab } = useJob();
  const at = place.value.q.get("at") || "";
  const path = place.value.q.get("path") || "";
  const line = +(place.value.q.get("line") || 0);
  const asked = place.value.q.get("q") || "";
  const [typed, setTyped] = useState(asked);
  const files = useData<{ files: JobFile[]; more?: boolean }>(d.job.commit ? `/api/jobs/${seg(id)}/files` + query({ at: at || d.job.commit }) : "");
  const list = (files.value.value?.files || []).filter((f) => !f.dir);
  return (
    <div class="files">
      <form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); tab("files", typed.trim() ? "?q=" + seg(typed.trim()) : ""); }}>
        <input type="search" value={typed} onInput={(e: any) => setTyped(e.currentTarget.value)} placeholder="Search the workspace and the documents" aria-label="Search the workspace" />
      </form>
      {asked && <Hits q={asked} />}
      <div class="files-in">
        <nav aria-label="Files">
          {!files.value.value && d.job.commit ? <Loading of={files} /> : <Tree files={list} at={path} onPick={(p) => tab("files", "?path=" + seg(p))} />}
          {files.value.value?.more && <p class="muted small">There are more than are listed.</p>}
        </nav>
        <div class="file-view">{path ? <FileView path={path} at={at || d.job.commit || ""} line={line} /> : <Empty>Pick a file.</Empty>}</div>
      </div>
    </div>
  );
}

function Tree({ files, at, onPick }: { files: JobFile[]; at: string; onPick: (p: string) => void }) {
  const groups = new Map<string, JobFile[]>();
  for (const f of files) {
    const i = f.path.lastIndexOf("/");
    const dir = i < 0 ? "" : f.path.slice(0, i + 1);
    groups.set(dir, [...(groups.get(dir) || []), f]);
  }
  if (!files.length) return <Empty>No files yet.</Empty>;
  return (
    <ul class="plain tree">
      {[...groups].map(([dir, list]) => (
        <li key={dir}>
          {dir && <div class="muted mono small">{dir}</div>}
          <ul class="plain">{list.map((f) => (
            <li key={f.path}><button type="button" class="file" aria-current={f.path === at || undefined} onClick={() => onPick(f.path)}><span class="mono">{f.path.slice(dir.length)}</span><span class="muted small">{bytes(f.size)}</span></button></li>
          ))}</ul>
        </li>
      ))}
    </ul>
  );
}

function FileView({ path, at, line }: { path: string; at: string; line: number }) {
  const { id } = useJob();
  const data = useData<FileText>(`/api/jobs/${seg(id)}/file` + query({ path, at }));
  const [raw, setRaw] = useState(line > 0);
  const f = data.value.value;
  useEffect(() => {
    if (line && f) document.querySelector(".numbered .hit")?.scrollIntoView({ block: "center" });
  }, [line, f]);
  if (!f) return <Loading of={data} />;
  return (
    <div>
      <div class="doc-head">
        <span class="mono">{path}</span><span class="muted small">{bytes(f.file.size)} · {short(f.file.commit || at)}</span><span class="grow" />
        {f.html !== undefined && <div class="segments" role="group" aria-label="View"><button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>Rendered</button><button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>Text</button></div>}
        <a class="btn small" href={`/api/jobs/${seg(id)}/download` + query({ path, at })} download>Save</a>
      </div>
      {f.note && <p class="note">{f.note}</p>}
      {f.binary ? <Empty>Not text.</Empty> : f.html !== undefined && !raw ? <Html html={f.html} /> : <Numbered text={f.text || ""} hit={line} />}
      {f.more && <p class="muted">There is more than is shown.</p>}
    </div>
  );
}

export function Numbered({ text, hit }: { text: string; hit: number }) {
  const lines = text.split("\n");
  const shown = lines.slice(0, 5000);
  return (
    <div class="numbered plaintext">
      {shown.map((l, i) => <div key={i} class={i + 1 === hit ? "hit" : undefined}><span class="no">{i + 1}</span><span>{l}</span></div>)}
      {shown.length < lines.length && <div class="muted">… {lines.length - shown.length} more lines</div>}
    </div>
  );
}

interface Hit { path: string; first: number; last: number; text: string; why: string; score: number }

function Hits({ q }: { q: string }) {
  const { id, tab } = useJob();
  const data = useData<{ hits: Hit[]; mode: string; covered: number; note?: string }>(`/api/jobs/${seg(id)}/search` + query({ q, limit: 12 }));
  const r = data.value.value;
  if (!r) return <Loading of={data} what="Searching" />;
  return (
    <section class="hits" aria-label="Found">
      <p class="muted small">{r.hits?.length || 0} found <Badge tone={r.mode === "words" ? "gray" : "accent"}>{r.mode === "words" ? "by words" : r.mode === "meaning" ? "by meaning" : "by words and meaning"}</Badge>{r.mode !== "words" && r.covered < 1 && ` ${Math.round(r.covered * 100)} % indexed`} {r.note}</p>
      {(r.hits || []).map((h, i) => (
        <button type="button" class="hit-row" key={i} onClick={() => tab("files", "?path=" + seg(h.path) + "&line=" + h.first)}>
          <span class="mono">{h.path}:{h.first}</span> <span class="muted small">{h.why}</span>
          <span class="hit-text">{h.text}</span>
        </button>
      ))}
    </section>
  );
}
