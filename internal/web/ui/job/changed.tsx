// What changed since the last round of review, and what became of the comments.

import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { Loading } from "../parts/basic";
import { Diff, type FileDiff } from "../parts/diff";
import { round, useJob } from "./context";
import { ThreadCard } from "./threads";

export function Changed() {
  const { id, d } = useJob();
  const j = d.job;
  const r = round(j);
  const data = useData<{ files: FileDiff[] }>(r?.since ? `/api/jobs/${seg(id)}/diff` + query({ from: r.since, to: j.commit }) : "");
  const before = j.rounds?.[(j.rounds?.length || 0) - 2];
  const sent = (j.threads || []).filter((t) => before?.comments?.includes(t.id));
  if (!r?.since) return <p class="muted">This is the first round: there is nothing to compare with.</p>;
  const files = [...(data.value.value?.files || [])].sort((a, b) => rank(a.path) - rank(b.path) || a.path.localeCompare(b.path));
  return (
    <div>
      {before?.feedback && <div class="note plain"><b>You asked:</b> <span class="pre">{before.feedback}</span></div>}
      {sent.length > 0 && <section aria-label="Your comments"><h2>Your comments</h2>{sent.map((t) => <ThreadCard key={t.id} t={t} showPlace />)}</section>}
      <h2>What changed since round {before?.round}</h2>
      {!data.value.value ? <Loading of={data} /> : <Diff files={files} empty="Nothing changed." />}
    </div>
  );
}

// rank puts what a person decides about first.
function rank(path: string): number {
  const i = ["plan.md", "todos.yaml", "workspace.md"].indexOf(path);
  return i < 0 ? 3 : i;
}
