// How far the job is, what it has cost, how what ran differs from what was
// approved, and what it came to.

import { useState } from "preact/hooks";
import { seg } from "../lib/api";
import { between, money, plural, span, tokens } from "../lib/format";
import { to } from "../lib/route";
import type { JobPhase, Todo } from "../lib/types";
import { Ago, Area, Badge, Button, Dialog, Html, say, Trouble, useTask } from "../parts/basic";
import { act, useJob } from "./context";

export function Progress() {
  const { d } = useJob();
  const j = d.job;
  return (
    <div class="progress">
      {j.ended && <Outcome />}
      <Facts />
      <PhaseList drift />
      {(j.mutations || []).length > 0 && (
        <details><summary>{plural(j.mutations!.length, "change")} of graphs</summary>
          <table class="list"><tbody>{j.mutations!.slice(-50).map((m) => <tr key={m.seq}><td><Ago at={m.at} /></td><td>{m.source}</td><td class="mono">{m.statement}</td></tr>)}</tbody></table>
        </details>
      )}
      <details class="asked" open={!j.ended}><summary>What was asked for</summary>
        {d.description_html ? <Html html={d.description_html} /> : <div class="pre">{d.description}</div>}
        {d.instructions && <><p class="field-name">Instructions</p>{d.instructions_html ? <Html html={d.instructions_html} /> : <div class="pre">{d.instructions}</div>}</>}
        {(j.started.documents || []).length > 0 && <p class="muted">Documents: {j.started.documents!.map((x) => x.path).join(", ")}</p>}
        {(j.started.sources || []).length > 0 && <p class="muted">Datasources: {j.started.sources!.map((x) => `${x.name} (${x.kind}${x.write ? ", may be changed" : ""})`).join(", ")}</p>}
      </details>
      {!d.over && <CancelJob />}
    </div>
  );
}

function Facts() {
  const { d, id } = useJob();
  const j = d.job;
  return (
    <div class="stats">
      <Stat name="Cost" value={d.cost?.usd ? d.cost.text : money(j.usage?.cost)} note={!d.over && d.cost?.left} />
      <Stat name="Tokens" value={tokens((j.usage?.input || 0) + (j.usage?.output || 0))} note={plural(j.calls, "model call")} />
      <Stat name="Worked" value={span(j.worked) || "—"} note={plural(j.tool_uses, "tool call")} />
      <Stat name="Commits" value={String(j.commits?.length || 0)} note={<a href={to.job(id, "history")}>history</a>} />
    </div>
  );
}
function Stat({ name, value, note }: { name: string; value: string; note?: any }) {
  return <div class="stat"><span class="muted">{name}</span><b>{value}</b>{note && <span class="muted small">{note}</span>}</div>;
}

function Outcome() {
  const { d, id, tab } = useJob();
  const e = d.job.ended!;
  return (
    <section class="card outcome" aria-label="Result">
      <header><Badge of={e.status} tone={d.job.state === "completed" ? "green" : undefined}>{d.job.state}</Badge>{e.confidence ? <span class="muted">confidence {Math.round(e.confidence * 100)} %</span> : null}<span class="grow" /></header>
      <div class="in">
        {d.outcome_html ? <Html html={d.outcome_html} /> : <div class="pre">{[e.why, e.summary].filter(Boolean).join("\n\n")}</div>}
        {(e.deliverables || []).length > 0 && (
          <><p class="field-name">Deliverables</p><ul class="plain deliverables">{e.deliverables!.map((p) => (
            <li key={p}><button type="button" class="link mono" onClick={() => tab("files", "?path=" + seg(p))}>{p}</button> <a href={`/api/jobs/${seg(id)}/download?path=${seg(p)}`} download>save</a></li>
          ))}</ul></>
        )}
        <Correct />
      </div>
    </section>
  );
}

function Correct() {
  const { id, again, feedback } = useJob();
  const task = useTask();
  const send = () => task.run(async () => {
    await act(id, "correct", { text: feedback.value.trim() });
    feedback.value = "";
    say("Sent. The job goes on with a new plan.");
    again();
  });
  return (
    <div class="correct">
      <Area label="Correction" rows={2} value={feedback.value} onText={(s: string) => (feedback.value = s)} onSend={send} placeholder="Something else needed? Say what, and the job goes on with it." />
      <Trouble of={task.problem} />
      <div class="actions"><Button small kind="main" busy={task.busy} disabled={!feedback.value.trim()} onClick={send}>Correct and go on</Button></div>
    </div>
  );
}

export function PhaseList({ drift }: { drift?: boolean }) {
  const { d } = useJob();
  const phases = [...(d.job.phases || [])].reverse();
  if (!phases.length) return <p class="empty">Nothing has begun yet.</p>;
  return <ol class="plain phases">{phases.map((p, i) => <Phase key={p.phase} p={p} open={i === 0 || p.kind === "tactical"} drift={drift} />)}</ol>;
}

const purposes: Record<string, string> = { initial: "planning", transition: "looking back, planning on", revise: "revising the plan", correct: "taking up a correction", tactical: "" };

function Phase({ p, open, drift }: { p: JobPhase; open: boolean; drift?: boolean }) {
  const todos = p.todos || [];
  const done = todos.filter((t) => t.done).length;
  const of = todos.filter((t) => !t.skip).length;
  return (
    <li>
      <details class="card phase" open={open}>
        <summary>
          <span class={"dot " + (p.ended ? (p.how === "done" || p.how === "completing" ? "green" : "amber") : "blue")} aria-hidden="true" />
          <b>Phase {p.phase}</b> {p.name || purposes[p.purpose] || p.kind}
          {p.iteration > 1 && <Badge>iteration {p.iteration}</Badge>}
          {p.how && p.how !== "done" && <Badge of={p.how === "trouble" ? "trouble" : ""}>{p.how}</Badge>}
          <span class="grow" />
          <span class="muted small">{done}/{of} <progress class="meter" value={done} max={Math.max(1, of)} aria-label="Todos done" /> {money(p.usage?.cost)} · {between(p.began, p.ended)}</span>
        </summary>
        <div class="in">
          {p.why && <p class="muted">{p.why}</p>}
          {p.run && <p><a href={to.run(p.run)}>carried out by a run</a></p>}
          <ol class="plain todos">{todos.map((t) => (
            <li key={t.id} class={t.done ? "done" : t.skip ? "skip" : ""}>
              <span class="tick" aria-label={t.done ? "done" : t.skip ? "left out" : "open"}>{t.done ? "✓" : t.skip ? "–" : "○"}</span>
              <span>{t.text}{t.note && <span class="muted"> — {t.note}</span>}</span>
              {t.usage?.cost ? <span class="muted small">{money(t.usage.cost)}</span> : null}
            </li>
          ))}</ol>
          {drift && p.approved && <Drift approved={p.approved} ran={todos} />}
        </div>
      </details>
    </li>
  );
}

// Drift is how what ran differs from what was approved.
function Drift({ approved, ran }: { approved: Todo[]; ran: Todo[] }) {
  const rows: [string, string, string][] = [];
  const byID = new Map(ran.map((t) => [t.id, t]));
  for (const a of approved) {
    const r = byID.get(a.id);
    if (!r) rows.push(["red", "not run", a.text]);
    else if (r.text !== a.text) rows.push(["amber", "changed", `${a.text} → ${r.text}`]);
    else if (!a.skip && !r.done) rows.push(["gray", "open", a.text]);
    byID.delete(a.id);
  }
  for (const r of byID.values()) rows.push(["blue", "added", r.text]);
  if (!rows.length) return <p class="muted small">Ran as approved.</p>;
  return (
    <section class="drift" aria-label="Approved and ran">
      <p class="field-name">Approved against what ran</p>
      <ul class="plain">{rows.map(([tone, what, text], i) => <li key={i}><Badge tone={tone}>{what}</Badge> {text}</li>)}</ul>
    </section>
  );
}

function CancelJob() {
  const { id, d, again } = useJob();
  const [ask, setAsk] = useState(false);
  const task = useTask();
  if (d.job.review) return null; // the bar has it
  return (
    <div class="actions">
      <Button kind="danger" small onClick={() => setAsk(true)}>Cancel job</Button>
      {ask && (
        <Dialog title="Cancel the job" onClose={() => setAsk(false)}>
          <p>What goes on is stopped. The files stay, and a correction can take the job up again.</p>
          <Trouble of={task.problem} />
          <div class="actions"><Button kind="main" class="danger" busy={task.busy} onClick={() => task.run(async () => { await act(id, "cancel", {}); setAsk(false); again(); })}>Cancel the job</Button><Button kind="quiet" onClick={() => setAsk(false)}>Back</Button></div>
        </Dialog>
      )}
    </div>
  );
}
