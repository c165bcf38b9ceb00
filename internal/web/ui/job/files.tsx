// The workspace of the job: its files, and a search through them.

import { useState } from "preact/hooks";
import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { place } from "../lib/route";
import type { JobFile } from "../lib/types";
import { Badge, Empty, Loading } from "../parts/basic";
import { FileView, Tree } from "../parts/files";
import { useJob } from "./context";

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
        <div class="file-view">{path ? <FileView key={path} path={path} at={at || d.job.commit} line={line} url={`/api/jobs/${seg(id)}/file` + query({ path, at: at || d.job.commit })} save={`/api/jobs/${seg(id)}/download` + query({ path, at: at || d.job.commit })} /> : <Empty>Pick a file.</Empty>}</div>
      </div>
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
