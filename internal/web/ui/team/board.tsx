// How the team stands: who waits for whom, and the ledger of tasks.

import { between, left, plural, span } from "../lib/format";
import { Badge, Empty, Html } from "../parts/basic";
import { useTeam } from "./context";
import { MergeCard } from "./feed";
import { Name } from "./members";
import { stands, type Task } from "./types";

export function Board() {
  const { d } = useTeam();
  const t = d.team;
  return (
    <div class="board">
      <section aria-label="Who waits for whom"><h2>Who waits for whom</h2><Waits /></section>
      <section aria-label="Tasks"><h2>Tasks <span class="count">{d.tasks.length}</span></h2><Ledger /></section>
      {(t.merges || []).length > 0 && <section aria-label="Merges"><h2>Merges <span class="count">{t.merges!.length}</span></h2>{[...t.merges!].reverse().map((m, i) => <MergeCard key={i} m={m} />)}</section>}
      <section aria-label="Facts"><h2>Facts</h2>
        <dl class="facts">
          <dt>Turns</dt><dd>{t.turns}, with {plural(t.calls, "model call")} and {plural(t.tool_uses, "tool call")}</dd>
          <dt>Worked</dt><dd>{span(t.worked) || "—"}{t.deadline && !d.over && " · " + left(t.deadline)}</dd>
          <dt>Description</dt><dd>{t.started.name}{t.started.file && <span class="mono small muted"> {t.started.file}</span>}</dd>
          {t.started.source && <><dt>Began from</dt><dd class="mono">{t.started.source}</dd></>}
          <dt>Folder</dt><dd class="mono">{t.started.dir}</dd>
        </dl>
        <details class="asked"><summary>What was asked for</summary><Html html={d.task_html} /></details>
        {(t.refusals || []).length > 0 && <details class="asked"><summary>{plural(t.refusals!.length, "thing")} said that could not be done</summary><ul class="plain">{t.refusals!.map((r) => <li key={r.ref} class="small">{r.why}</li>)}</ul></details>}
      </section>
    </div>
  );
}

// Waits is a line for everybody: for whom it waits, and who waits for it.
function Waits() {
  const { d } = useTeam();
  const all = d.team.members;
  return (
    <ul class="plain waits">
      {all.map((m) => {
        const by = all.filter((o) => o.waits?.includes(m.agent)).map((o) => o.agent);
        return (
          <li key={m.agent} class={m.state}>
            <Name d={d} who={m.agent} />
            {m.waits?.length ? (
              <span class="waits-for"><span class="arrow" aria-hidden="true">⟶</span><span class="muted small">waits for {m.all && m.waits.length > 1 ? "all of" : m.waits.length > 1 ? "any of" : ""}</span>{m.waits.map((w) => <Name key={w} d={d} who={w} />)}</span>
            ) : <span class="muted small waits-for">{stands(m, d.over)}</span>}
            {by.length > 0 && m.state !== "lost" && <Badge tone="amber">{by.join(", ")} {by.length > 1 ? "wait" : "waits"} for it</Badge>}
            {!!m.queued && <Badge>{plural(m.queued, "message")} queued</Badge>}
          </li>
        );
      })}
    </ul>
  );
}

const tones: Record<string, string> = { open: "blue", done: "green", blocked: "amber", failed: "red" };

function Ledger() {
  const { d } = useTeam();
  if (!d.tasks.length) return <Empty>Nobody has been set a task yet.</Empty>;
  return <ul class="plain ledger">{d.tasks.map((t) => <li key={t.task}><TaskLine t={t} /></li>)}</ul>;
}

function TaskLine({ t }: { t: Task }) {
  const { d, read } = useTeam();
  const lost = d.team.members.find((m) => m.agent === t.owner)?.state === "lost";
  return (
    <details class="card task">
      <summary>
        <Badge tone={tones[t.state]}>{t.state}</Badge><b class="task-title">{t.title}</b>
        {t.stalled && <Badge tone="amber">stalled</Badge>}{lost && t.state === "open" && <Badge tone="red">owner lost</Badge>}
        <span class="grow" /><Name d={d} who={t.owner} /><span class="muted small nowrap">{between(t.began, t.ended)}</span>
      </summary>
      <div class="in">
        <p class="mono muted small">{t.task}</p>
        {t.detail_html && <Html html={t.detail_html} />}
        {t.summary_html && <><p class="field-name">Reported</p><Html html={t.summary_html} /></>}
        {(t.files || []).length > 0 && <p class="mail-files">{t.files!.map((f) => <button key={f} type="button" class="link mono" onClick={() => read(f, t.owner)}>{f}</button>)}</p>}
      </div>
    </details>
  );
}
