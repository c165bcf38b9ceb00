// What happened to the plan: rounds of review, commits, and what lies between any
// two of them.

import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { plural, short } from "../lib/format";
import { place } from "../lib/route";
import type { Commit } from "../lib/types";
import { Ago, Badge, Button, Loading } from "../parts/basic";
import { Diff, type FileDiff } from "../parts/diff";
import { useJob } from "./context";

const choices: Record<string, [string, string]> = { approve: ["green", "approved"], change: ["amber", "changes requested"], skip: ["green", "run without review"], cancel: ["gray", "cancelled"] };

export function History() {
  const { id, d, tab } = useJob();
  const j = d.job;
  const from = place.value.q.get("from") || "";
  const until = place.value.q.get("to") || "";
  const log = useData<{ commits: Commit[] }>(j.commit ? `/api/jobs/${seg(id)}/log` + query({ limit: 100, at: j.commit }) : "");
  const commits = log.value.value?.commits || [];
  const by = (h: string) => j.commits?.find((c) => c.commit === h);
  return (
    <div>
      {from && (
        <section aria-label="Difference">
          <div class="doc-head"><h2>{name(from)} → {name(until) || "now"}</h2><span class="grow" /><Button small kind="quiet" onClick={() => tab("history")}>Close</Button></div>
          <Between id={id} from={from} to={until} />
        </section>
      )}
      {(j.rounds || []).length > 0 && (
        <section aria-label="Rounds of review">
          <h2>Rounds of review</h2>
          <ol class="plain rounds">{[...j.rounds!].reverse().map((r) => (
            <li key={r.round + "/" + r.phase} class="card"><div class="in">
              <div class="meta"><b>Round {r.round}</b> <span class="muted">revision {r.revision}</span> {r.choice ? <Badge tone={choices[r.choice]?.[0]}>{choices[r.choice]?.[1] || r.choice}{r.by ? " by " + r.by : ""}</Badge> : <Badge tone="amber">open</Badge>} {r.same && <Badge tone="red">nothing changed</Badge>} <Ago at={r.decided || r.at} /><span class="grow" />
                {r.since && <Button small kind="quiet" onClick={() => tab("history", `?from=${seg(r.since!)}&to=${seg(r.commit)}`)}>what changed</Button>}</div>
              {r.reason && <p class="muted">{r.reason}</p>}
              {r.feedback && <div class="pre">{r.feedback}</div>}
              {(r.comments || []).length > 0 && <p class="muted small">{plural(r.comments!.length, "comment")} went along</p>}
              {(r.edits || []).length > 0 && <p class="muted small">edited by hand: {r.edits!.join(", ")}</p>}
            </div></li>
          ))}</ol>
        </section>
      )}
      <h2>Commits</h2>
      {!log.value.value && j.commit ? <Loading of={log} /> : (
        <div class="scroll"><table class="list"><tbody>{commits.map((c, i) => (
          <tr key={c.hash}>
            <td class="mono nowrap">{short(c.hash)}</td>
            <td>{c.subject} {c.tags?.map((t) => <Badge key={t} tone="accent">{t}</Badge>)}</td>
            <td class="muted nowrap who">{by(c.hash)?.by || c.author}</td><td><Ago at={c.at} /></td>
            <td class="nowrap">{commits[i + 1] && <Button small kind="quiet" onClick={() => tab("history", `?from=${seg(commits[i + 1].hash)}&to=${seg(c.hash)}`)}>diff</Button>}</td>
          </tr>
        ))}</tbody></table></div>
      )}
    </div>
  );
}

const name = (r: string) => (/^[0-9a-f]{12,}$/.test(r) ? short(r) : r);

function Between({ id, from, to }: { id: string; from: string; to: string }) {
  const data = useData<{ files: FileDiff[] }>(`/api/jobs/${seg(id)}/diff` + query({ from, to }));
  if (!data.value.value) return <Loading of={data} />;
  return <Diff files={data.value.value.files} />;
}
