// Files to look at: a list of them, and one as it is.

import { useEffect, useState } from "preact/hooks";
import { useData } from "../lib/data";
import { bytes, short } from "../lib/format";
import type { JobFile } from "../lib/types";
import { Empty, Html, Loading } from "./basic";

export interface FileText { file: JobFile; text?: string; html?: string; binary?: boolean; more?: boolean; note?: string }

export function Tree({ files, at, onPick }: { files: JobFile[]; at: string; onPick: (p: string) => void }) {
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

// FileView shows what is at url; save is where it can be had as it is. More is
// shown beside the views of the text.
export function FileView({ path, url, save, at = "", line = 0, flow, children }: { path: string; url: string; save: string; at?: string; line?: number; flow?: string; children?: any }) {
  const data = useData<FileText>(url, flow);
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
        {children}
        <a class="btn small" href={save} download>Save</a>
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
