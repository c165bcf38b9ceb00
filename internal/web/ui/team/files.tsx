// What the team makes: the files of the shared tree and of the members' own, to be
// read and compared with what there was.

import { useState } from "preact/hooks";
import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { place } from "../lib/route";
import type { JobFile } from "../lib/types";
import { Badge, Dialog, Empty, Loading } from "../parts/basic";
import { Diff, type FileDiff } from "../parts/diff";
import { FileView, Tree } from "../parts/files";
import { useTeam } from "./context";
import { changeTone } from "./feed";
import { made } from "./types";

// commitOf changes whenever the tree does, so that it is read anew.
function commitOf(d: ReturnType<typeof useTeam>["d"], member: string): string {
  return (member ? d.team.members.find((m) => m.agent === member)?.commit : d.team.commit) || "";
}

export function TeamFiles() {
  const { id, d, tab } = useTeam();
  const path = place.value.q.get("path") || "";
  const member = place.value.q.get("of") || "";
  const [diff, setDiff] = useState(false);
  const at = commitOf(d, member);
  const files = useData<{ files: JobFile[]; more?: boolean }>(`/api/teams/${seg(id)}/files` + query({ member, at }));
  const pick = (p: string, of = member) => tab("files", query({ path: p, of }));
  const list = files.value.value?.files || [];
  return (
    <div class="files">
      <div class="filters">
        <label class="small">Whose <select aria-label="Whose files" value={member} onChange={(e: any) => pick("", e.currentTarget.value)}>
          <option value="">shared tree</option>{d.team.members.filter((m) => !m.leader && m.dir).map((m) => <option key={m.agent} value={m.agent}>{m.agent}{m.unmerged ? " (not merged)" : ""}</option>)}
        </select></label>
        <div class="segments" role="group" aria-label="View of the tree"><button type="button" aria-pressed={!diff} onClick={() => setDiff(false)}>Files</button><button type="button" aria-pressed={diff} onClick={() => setDiff(true)}>Changes</button></div>
      </div>
      {diff ? <Changes member={member} /> : (
        <div class="files-in">
          <nav aria-label="Files">{!files.value.value ? <Loading of={files} /> : <Tree files={list.filter((f) => !f.dir)} at={path} onPick={(p) => pick(p)} />}{files.value.value?.more && <p class="muted small">There are more than are listed.</p>}</nav>
          <div class="file-view">{path ? <Reader path={path} member={member} /> : <Empty>Pick a file.</Empty>}</div>
        </div>
      )}
    </div>
  );
}

function Changes({ member, path }: { member: string; path?: string }) {
  const { id, d } = useTeam();
  const data = useData<{ files: FileDiff[] }>(`/api/teams/${seg(id)}/diff` + query({ member, path, at: commitOf(d, member) }));
  const r = data.value.value;
  return r ? <Diff files={r.files} empty="Nothing has changed since the beginning." /> : <Loading of={data} />;
}

// Reader shows a file, and what changed in it.
function Reader({ path, member }: { path: string; member: string }) {
  const { id, d } = useTeam();
  const [diff, setDiff] = useState(false);
  const at = commitOf(d, member);
  const q = query({ path, member, at });
  const button = <Toggle on={diff} onClick={() => setDiff(!diff)} />;
  if (diff) return <><div class="doc-head"><span class="mono">{path}</span><span class="grow" />{button}</div><Changes member={member} path={path} /></>;
  return <FileView key={path + member} path={path} url={`/api/teams/${seg(id)}/file` + q} save={`/api/teams/${seg(id)}/download` + query({ path, member })}>{button}</FileView>;
}

const Toggle = ({ on, onClick }: { on: boolean; onClick: () => void }) => <button type="button" class="btn small" aria-pressed={on} onClick={onClick}>{on ? "File" : "Changes"}</button>;

// ReadFile is a file on top of the page.
export function ReadFile({ path, member, onClose }: { path: string; member: string; onClose: () => void }) {
  return <Dialog wide title={path.split("/").pop() || path} onClose={onClose}><Reader path={path} member={member} /></Dialog>;
}

const mark: Record<string, string> = { new: "+", modified: "±", deleted: "−" };

// Deliverables is what there is to see so far, beside everything else.
export function Deliverables() {
  const { d, read } = useTeam();
  const t = d.team;
  const { named, rest, count } = made(d);
  const waiting = t.members.filter((m) => m.unmerged);
  return (
    <aside id="made" class="side deliverables" aria-label="Deliverables">
      <header><h2>Deliverables</h2><span class="count">{count}</span></header>
      <div class="deliverables-in">
        {named.length > 0 && <ul class="plain">{named.map((p) => <li key={p}><button type="button" class="file-line" onClick={() => read(p)}><span aria-hidden="true" class="file-mark star">★</span><span class="mono">{p}</span></button></li>)}</ul>}
        {named.length > 0 && rest.length > 0 && <p class="muted small">Besides</p>}
        {rest.length > 0 && <ul class="plain">{rest.map((f) => (
          <li key={f.path}>{f.kind === "deleted" ? <span class="file-line muted"><span class="file-mark red" aria-label="deleted">−</span><s class="mono">{f.path}</s></span> : <button type="button" class="file-line" onClick={() => read(f.path)}><span class={"file-mark " + (changeTone[f.kind] || "")} aria-label={f.kind}>{mark[f.kind] || "·"}</span><span class="mono">{f.path}</span></button>}</li>
        ))}</ul>}
        {!named.length && !rest.length && <Empty>Nothing is in the shared tree yet.</Empty>}
        {waiting.length > 0 && <p class="small">Not merged yet: {waiting.map((m) => <Badge key={m.agent} tone="accent">{m.agent}</Badge>)}</p>}
      </div>
    </aside>
  );
}
