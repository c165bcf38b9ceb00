// A run: several agents on one task, live; then what they came to and how.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, key, post, query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { between, clock, money, plural, span, spent, tokens } from "../lib/format";
import { go, to } from "../lib/route";
import { onLive } from "../lib/stream";
import { useTitle } from "../lib/title";
import { Badge, Button, Dialog, Empty, Html, Loading, say, Tabs, Trouble, useTask } from "../parts/basic";
import { Stopped } from "../parts/stopped";
import { GateCard, type GateData } from "../parts/gate";

interface Agent { id: string; label: string; model?: string; state: string; since?: string; round?: number; answers: number; calls: number; vote_for?: string; vote_fresh?: boolean; lost?: string; tools?: { id: string; name: string }[]; filled?: number; window?: number; late?: boolean }
interface Run {
  id: string; seq: number; title: string; task: string; task_html: string; sentence: string; state: string; final_html?: string; gates: GateData[]; parent?: string;
  card: { phase: string; agents?: Agent[]; answers: number; votes: number; rounds: number; winner?: string; presenter?: string; status?: string; stopped_by?: string; error?: string; paused?: boolean; started?: string; ended?: string };
  result: any; cost?: { usd?: number; text: string; tokens: number; calls: number }; driver?: { pid: number };
}
interface Item { index: number; seq: number; at: string; agent?: string; label?: string; kind: string; title: string; detail?: string; cut?: boolean; ref?: string; tool?: { name: string; input?: string; state: string } }

export function RunPage({ id, tab }: { id: string; tab: string }) {
  const data = useData<Run>("/api/runs/" + seg(id), id, "home"); // home tells when a driver is gone
  const r = data.value.value;
  useTitle(r?.title || "Run");
  const at = tab || (r?.final_html ? "result" : "live");
  if (!r) return <div class="page"><Loading of={data} what="Opening the run" /></div>;
  const over = !!r.card.ended;
  const stopped = r.state === "unfinished";
  const pick = (t: string) => go(to.run(id, t), true);
  return (
    <div class="page run">
      <div class="head">
        <h1>{r.title}</h1><Badge of={r.card.status || r.state}>{r.card.paused ? "paused" : r.card.status || r.state}</Badge><span class="grow" />
        {r.cost && <span class="muted">{spent(r.cost)}</span>}<span class="muted">{between(r.card.started, r.card.ended)}</span>
        {r.parent && <a href={to.session(r.parent)}>its session</a>}
        <a href={to.audit(id)}>audit</a>
      </div>
      <p class="job-doing" role="status">{!over && !stopped && <span class="spin" aria-hidden="true" />} {r.sentence}</p>
      {stopped && <Stopped flow={id} again={data.again} />}
      {r.card.error && <Trouble of={new Error(r.card.error)} />}
      {r.gates.map((g) => <GateCard key={g.gate + g.revision} g={g} flow={id} />)}
      <Agents r={r} />
      {!over && <Steer r={r} />}
      <Tabs label="Parts of the run" at={at} onPick={pick} tabs={[{ id: "live", name: "Timeline" }, { id: "answers", name: "Answers", note: r.card.answers || undefined }, { id: "votes", name: "Votes", note: r.card.votes || undefined }, { id: "result", name: "Result" }, { id: "cost", name: "Cost" }, { id: "task", name: "Task" }]} />
      <div class="job-tab" role="tabpanel" aria-labelledby={"tab-" + at}>
        {at === "live" && <TimelineView id={id} />}
        {at === "answers" && <AnswersView id={id} />}
        {at === "votes" && <Votes r={r} />}
        {at === "result" && <Result r={r} />}
        {at === "cost" && <Cost r={r} />}
        {at === "task" && <Html html={r.task_html} />}
      </div>
    </div>
  );
}

function Agents({ r }: { r: Run }) {
  const store = useMemo(() => signal<Record<string, string>>({}), [r.id]);
  useEffect(() => onLive((l) => {
    if (l.flow !== r.id) return;
    const now = store.value[l.agent] || "";
    if (l.kind === "end") store.value = { ...store.value, [l.agent]: "" };
    else if (l.kind === "text") store.value = { ...store.value, [l.agent]: ((l.anew ? "" : now) + l.text).slice(-600) };
  }), [r.id]);
  return (
    <div class="agents">
      {(r.card.agents || []).map((a) => (
        <section class={"card agent" + (r.card.winner === a.id ? " winner" : "")} key={a.id} aria-label={a.label}>
          <h3>{a.label}{a.label !== a.id && <span class="muted small">{a.id}</span>}<span class="grow" /><Badge of={a.state} /></h3>
          <div class="small">{a.model}</div>
          <div class="small">{plural(a.answers, "answer")} · {plural(a.calls, "call")}{a.round ? " · round " + a.round : ""}{a.late ? " · late" : ""}</div>
          {a.vote_for && <div class="small">votes for <b>{a.vote_for}</b>{!a.vote_fresh && " (out of date)"}</div>}
          {a.lost && <div class="small">{a.lost}</div>}
          {r.card.winner === a.id && <Badge tone="green">winner</Badge>} {r.card.presenter === a.id && <Badge tone="blue">presents</Badge>}
          {!r.card.ended && <div class="live" aria-hidden="true"><span>{store.value[a.id] || a.tools?.map((t) => t.name + "…").join(", ") || ""}</span></div>}
        </section>
      ))}
    </div>
  );
}

function Steer({ r }: { r: Run }) {
  const [text, setText] = useState("");
  const [who, setWho] = useState("");
  const [ask, setAsk] = useState(false);
  const task = useTask();
  const url = "/api/runs/" + seg(r.id);
  const send = () => task.run(async () => {
    if (!text.trim()) return;
    await post(url + "/messages", { text: text.trim(), to: who ? [who] : undefined, key: key() });
    setText("");
    say("Sent");
  });
  const steer = (what: string) => task.run(() => post(url + "/steer", { do: what, key: key() }));
  return (
    <section class="card steer" aria-label="Speak to the agents"><div class="in">
      <div class="actions top-0">
        <input type="text" aria-label="Message to the agents" value={text} placeholder="Say something to the agents" onInput={(e: any) => setText(e.currentTarget.value)} onKeyDown={(e: any) => e.key === "Enter" && send()} />
        <select aria-label="To" value={who} onChange={(e: any) => setWho(e.currentTarget.value)}><option value="">everybody</option>{(r.card.agents || []).map((a) => <option value={a.id} key={a.id}>{a.label}</option>)}</select>
        <Button kind="main" small busy={task.busy} disabled={!text.trim()} onClick={send}>Send</Button>
        <span class="grow" />
        <Button small onClick={() => steer(r.card.paused ? "continue" : "pause")}>{r.card.paused ? "Continue" : "Pause"}</Button>
        <Button small onClick={() => steer("wrap_up")}>Wrap up</Button>
        <Button small kind="danger" onClick={() => setAsk(true)}>Cancel</Button>
      </div>
      <Trouble of={task.problem} />
      {ask && <Dialog title="Cancel the run" onClose={() => setAsk(false)}><p>The agents stop and no answer is presented.</p><div class="actions"><Button kind="main" class="danger" busy={task.busy} onClick={() => task.run(async () => { await post(url + "/cancel", { key: key() }); setAsk(false); })}>Cancel the run</Button><Button kind="quiet" onClick={() => setAsk(false)}>Back</Button></div></Dialog>}
    </div></section>
  );
}

function TimelineView({ id }: { id: string }) {
  const data = useData<{ items: Item[]; total: number; before?: number }>(`/api/runs/${seg(id)}/timeline?limit=60`, id);
  const [older, setOlder] = useState<Item[]>([]);
  const [before, setBefore] = useState<number | undefined>();
  const task = useTask();
  const p = data.value.value;
  useEffect(() => {
    if (!older.length) setBefore(p?.before);
  }, [p]);
  if (!p) return <Loading of={data} />;
  const first = p.items[0]?.index ?? 0;
  const items = [...older.filter((o) => o.index < first), ...p.items].reverse();
  if (!items.length) return <Empty>Nothing has happened yet.</Empty>;
  return (
    <>
      <ol class="timeline" aria-label="Timeline, newest first">{items.map((i) => (
        <li key={i.index} class={i.kind}>
          <time dateTime={i.at}>{clock(i.at)}</time><span class="who">{i.label || ""}</span>
          {i.detail || i.tool?.input ? (
            <details><summary>{i.title} {i.tool && i.tool.state !== "ok" && <Badge of={i.tool.state}>{i.tool.state}</Badge>}</summary>{i.tool?.input && i.tool.input !== "{}" && <pre class="plaintext">{i.tool.input}</pre>}{i.detail && <pre class="plaintext">{i.detail}{i.cut ? "\n…" : ""}</pre>}</details>
          ) : <span>{i.title}</span>}
        </li>
      ))}</ol>
      <Trouble of={task.problem} />
      {before !== undefined && <Button kind="quiet" busy={task.busy} onClick={() => task.run(async () => {
        const r = await get(`/api/runs/${seg(id)}/timeline` + query({ limit: 60, before }));
        setOlder((o) => [...r.items, ...o]);
        setBefore(r.before);
      })}>Earlier</Button>}
    </>
  );
}

interface Answer { agent: string; label: string; revision: number; name: string; at: string; html: string; files?: boolean; newest?: boolean; winner?: boolean; draft?: boolean; votes?: { voter: string; label: string; reason?: string; fresh: boolean; counts: boolean }[] }

function AnswersView({ id }: { id: string }) {
  const data = useData<{ answers: Answer[] }>(`/api/runs/${seg(id)}/answers`, id);
  const [all, setAll] = useState(false);
  const p = data.value.value;
  if (!p) return <Loading of={data} />;
  const shown = p.answers.filter((a) => all || a.newest);
  if (!p.answers.length) return <Empty>No answers yet.</Empty>;
  return (
    <>
      {shown.length < p.answers.length || all ? <p><label class="toggle"><input type="checkbox" checked={all} onChange={(e: any) => setAll(e.currentTarget.checked)} /> every revision</label></p> : null}
      <div class="answers">{shown.map((a) => (
        <article class={"card" + (a.winner ? " winner" : "")} key={a.name} aria-label={"Answer " + a.name}>
          <header><b>{a.name}</b>{a.winner && <Badge tone="green">winner</Badge>}{a.draft && <Badge tone="blue">presented from it</Badge>}<span class="grow" /><span class="muted small">{clock(a.at)}</span></header>
          <div class="in"><Html html={a.html} /></div>
          {a.votes?.map((v) => <p class="pad muted small" key={v.voter}><b>{v.label}</b> votes for it{v.counts ? "" : " (does not count)"}{v.reason ? ": " + v.reason : ""}</p>)}
          {a.files && <AnswerFiles id={id} answer={a.name} />}
        </article>
      ))}</div>
    </>
  );
}

function AnswerFiles({ id, answer }: { id: string; answer: string }) {
  const [open, setOpen] = useState(false);
  const [path, setPath] = useState("");
  const data = useData<{ files: { path: string; dir?: boolean }[] }>(open ? `/api/runs/${seg(id)}/files` + query({ answer }) : "");
  const file = useData<{ text?: string; html?: string; binary?: boolean }>(path ? `/api/runs/${seg(id)}/file` + query({ answer, path }) : "");
  const f = file.value.value;
  return (
    <details class="pad" onToggle={(e: any) => setOpen(e.currentTarget.open)}>
      <summary class="muted">files</summary>
      {open && !data.value.value && <Loading of={data} />}
      <ul class="plain">{data.value.value?.files?.filter((x) => !x.dir).map((x) => <li key={x.path}><button type="button" class="link mono" onClick={() => setPath(x.path)}>{x.path}</button></li>)}</ul>
      {path && <Dialog wide title={path} onClose={() => setPath("")}>{!f ? <Loading of={file} /> : f.binary ? <Empty>Not text.</Empty> : f.html ? <Html html={f.html} /> : <pre class="plaintext">{f.text}</pre>}</Dialog>}
    </details>
  );
}

function Votes({ r }: { r: Run }) {
  const c = r.result?.coordination_summary;
  const votes = c?.votes || [];
  const label = (id: string) => r.card.agents?.find((a) => a.id === id)?.label || id;
  const tally = Object.entries(c?.tally || {}) as [string, number][];
  const top = Math.max(1, ...tally.map(([, n]) => n));
  if (!votes.length && !tally.length) return <Empty>No votes yet.</Empty>;
  return (
    <>
      {tally.length > 0 && <dl class="facts tally">{tally.map(([a, n]) => <><dt key={a}>{label(a)}</dt><dd><progress class="meter" max={top} value={n} aria-label={label(a)} /> {n}</dd></>)}</dl>}
      {c?.how && <p class="muted">Decided by {c.how}{c.margin ? ", ahead by " + c.margin : ""}, after {plural(c.rounds, "round")}.</p>}
      <table class="list"><tbody>{votes.map((v: any) => <tr key={v.voter}><td><b>{label(v.voter)}</b></td><td>for <b>{label(v.for)}</b> {!v.counted && <Badge>does not count</Badge>}</td><td>{v.reason}</td></tr>)}</tbody></table>
    </>
  );
}

function Result({ r }: { r: Run }) {
  const files = r.result?.files_written || [];
  if (!r.final_html && !r.card.ended) return <Empty>The run goes on.</Empty>;
  return (
    <>
      {r.final_html ? <Html html={r.final_html} /> : <Empty>It ended without an answer.</Empty>}
      {files.length > 0 && <><h2 class="gap">Files written</h2><ul class="plain">{files.map((f: any) => <li key={f.path}><Badge>{f.change}</Badge> <span class="mono">{f.path}</span></li>)}</ul></>}
    </>
  );
}

function Cost({ r }: { r: Run }) {
  const u = r.result?.usage;
  return (
    <div class="scroll"><table class="list">
      <thead><tr><th>Agent</th><th>Model</th><th>Calls</th><th>In</th><th>Cached</th><th>Out</th><th>Cost</th></tr></thead>
      <tbody>
        {(u?.agents || []).map((a: any) => <tr key={a.agent}><td><b>{a.label}</b></td><td class="mono">{a.model}</td><td>{a.model_calls}</td><td>{tokens(a.input_tokens)}</td><td>{tokens(a.cached_tokens)}</td><td>{tokens(a.output_tokens)}</td><td>{money(a.cost_usd * 1e6)}</td></tr>)}
        {u?.total && <tr><td><b>all</b></td><td>{span(r.result?.duration)}</td><td>{u.total.model_calls}</td><td>{tokens(u.total.input_tokens)}</td><td>{tokens(u.total.cached_tokens)}</td><td>{tokens(u.total.output_tokens)}</td><td><b>{money(u.total.cost_usd * 1e6)}</b></td></tr>}
      </tbody>
    </table></div>
  );
}
