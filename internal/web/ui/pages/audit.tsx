// Everything that happened, a page at a time, each event in full on demand.

import { useEffect, useState } from "preact/hooks";
import { get, query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { clock, money, tokens } from "../lib/format";
import { place, to } from "../lib/route";
import { useTitle } from "../lib/title";
import type { AuditRow } from "../lib/types";
import { Badge, Button, Dialog, Empty, Loading, Trouble, useTask } from "../parts/basic";

interface Page { rows: AuditRow[]; total: number; next?: number }

const groups = ["model", "tool", "person", "decision", "error", "other"];

export function AuditPage({ id }: { id: string }) {
  useTitle("Audit");
  return <div class="page"><div class="head"><h1>Audit</h1><span class="mono muted">{id}</span></div><Audit flow={id} /></div>;
}

export function Audit({ flow, inJob }: { flow: string; inJob?: boolean }) {
  const [typed, setTyped] = useState(place.value.q.get("q") || "");
  const [q, setQ] = useState(typed);
  const [on, setOn] = useState<string[]>([]);
  const [more, setMore] = useState<AuditRow[]>([]);
  const [next, setNext] = useState<number | undefined>();
  const [open, setOpen] = useState(+(place.value.q.get("seq") || 0));
  const url = `/api/flows/${seg(flow)}/audit` + query({ limit: 50, q }) + on.map((g) => "&group=" + g).join("");
  const data = useData<Page>(url, more.length ? undefined : flow); // who reads on is not disturbed
  const task = useTask();
  const p = data.value.value;
  useEffect(() => {
    const t = setTimeout(() => setQ(typed.trim()), 250);
    return () => clearTimeout(t);
  }, [typed]);
  useEffect(() => {
    setMore([]);
    setNext(p?.next);
  }, [p]);
  const rows = [...(p?.rows || []), ...more];
  return (
    <div class="audit">
      <div class="filters">
        <input type="search" value={typed} onInput={(e: any) => setTyped(e.currentTarget.value)} placeholder="Search what happened" aria-label="Search the audit" />
        <div class="segments wrap" role="group" aria-label="Groups">{groups.map((g) => <button key={g} type="button" aria-pressed={on.includes(g)} onClick={() => setOn(on.includes(g) ? on.filter((x) => x !== g) : [...on, g])}>{g}</button>)}</div>
        {p && <span class="muted small">{p.total} events</span>}
        {inJob && <a class="small" href={to.audit(flow)}>on a page of its own</a>}
      </div>
      {open > 0 && !rows.some((r) => r.seq === open && r.flow === flow) && <Detail flow={flow} seq={open} onClose={() => setOpen(0)} />}
      {!p ? <Loading of={data} /> : rows.length === 0 ? <Empty>Nothing that matches.</Empty> : (
        <div class="card audit-list">
          {rows.map((r) => (
            <div key={r.flow + r.seq}>
              <button type="button" class={"audit-row" + (r.error ? " error" : "")} aria-expanded={open === r.seq} onClick={() => setOpen(open === r.seq ? 0 : r.seq)}>
                <span class="no">{r.seq}</span><time class="at" dateTime={r.at}>{clock(r.at)}</time>
                <Badge tone={tone[r.group]}>{r.group}</Badge>
                <span class="what">{r.agent && <b>{r.agent} </b>}{r.title}{r.preview && <span class="preview">{r.preview}</span>}</span>
                <span class="muted small sum">{r.tokens ? tokens(r.tokens) : ""} {r.cost ? money(r.cost) : ""}</span>
              </button>
              {open === r.seq && <Detail flow={r.flow} seq={r.seq} model={r.group === "model"} onClose={() => setOpen(0)} />}
            </div>
          ))}
        </div>
      )}
      <Trouble of={task.problem} />
      {next !== undefined && next > 0 && <Button kind="quiet" busy={task.busy} onClick={() => task.run(async () => {
        const r = await get<Page>(`/api/flows/${seg(flow)}/audit` + query({ limit: 50, q, before: next }) + on.map((g) => "&group=" + g).join(""));
        setMore((m) => [...m, ...r.rows]);
        setNext(r.next);
      })}>Earlier</Button>}
    </div>
  );
}

const tone: Record<string, string> = { model: "accent", tool: "blue", person: "amber", decision: "green", error: "red" };

function Detail({ flow, seq, model, onClose }: { flow: string; seq: number; model?: boolean; onClose: () => void }) {
  const data = useData<AuditRow & { id: string; body: any; cut?: boolean }>(`/api/flows/${seg(flow)}/audit/${seq}`);
  const [whole, setWhole] = useState(false);
  const d = data.value.value;
  return (
    <div class="audit-detail">
      <div class="doc-head"><b>{d?.title || "Event " + seq}</b><span class="mono muted small">{d?.kind} {d?.id}</span><span class="grow" />
        {(model || d?.kind === "called") && <Button small onClick={() => setWhole(true)}>What was sent and what came back</Button>}
        <Button small kind="quiet" aria-label="Close" onClick={onClose}>✕</Button></div>
      {!d ? <Loading of={data} /> : <pre class="plaintext">{JSON.stringify(d.body, null, 2)}</pre>}
      {d?.cut && <p class="muted small">Long texts are cut.</p>}
      {whole && <Request flow={flow} seq={seq} onClose={() => setWhole(false)} />}
    </div>
  );
}

interface Message { from: string; text?: string; tool?: string; calls?: { name: string; input: any }[]; error?: boolean; summary?: boolean }

function Request({ flow, seq, onClose }: { flow: string; seq: number; onClose: () => void }) {
  const data = useData<{ agent: string; model: string; system: string; tools?: any; messages: Message[]; reply: Message; usage: any }>(`/api/flows/${seg(flow)}/requests/${seq}`);
  const r = data.value.value;
  return (
    <Dialog title={"Model call " + seq} onClose={onClose} wide>
      {!r ? <Loading of={data} /> : (
        <div>
          <p class="muted">{r.agent} · {r.model} · {tokens(r.usage?.input)} in, {tokens(r.usage?.output)} out · {money(r.usage?.cost)}</p>
          <details class="llm-message"><summary class="pad">system</summary><pre class="plaintext">{r.system}</pre></details>
          {r.tools && <details class="llm-message"><summary class="pad">tools</summary><pre class="plaintext">{JSON.stringify(r.tools, null, 2)}</pre></details>}
          {r.messages?.map((m, i) => <One key={i} m={m} />)}
          <h3>Reply</h3>
          <One m={r.reply} />
        </div>
      )}
    </Dialog>
  );
}

function One({ m }: { m: Message }) {
  return (
    <div class="llm-message">
      <header>{m.from}{m.tool ? " " + m.tool : ""}{m.summary ? " (summed up)" : ""}{m.error ? " (error)" : ""}</header>
      {m.text && <pre class="plaintext">{m.text}</pre>}
      {m.calls?.map((c, i) => <pre class="plaintext" key={i}>{c.name} {typeof c.input === "string" ? c.input : JSON.stringify(c.input)}</pre>)}
    </div>
  );
}
