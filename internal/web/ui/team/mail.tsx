// Messages as cards: from whom, to whom, and what became of them.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, key, query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { clock } from "../lib/format";
import { Area, Badge, Button, Empty, Html, Loading, Trouble, useTask } from "../parts/basic";
import { act, leaderOf, useTeam } from "./context";
import { Name } from "./members";
import { and, type Fate, fateTone, fateWords, type Mail } from "./types";

const kinds: Record<string, string> = { goal: "the task", task: "sets a task", question: "asks", report: "reports", notice: "notice" };
const states: Record<string, string> = { done: "green", blocked: "amber", failed: "red" };

export const senderOf = (m: Mail) => m.from || (m.kind === "notice" ? "conclave" : m.by || "you");

export function MailCard({ m }: { m: Mail }) {
  const { d, read } = useTeam();
  const from = senderOf(m);
  return (
    <article class={"mail-card " + m.kind} aria-label={`${from} to ${and(m.to)}`}>
      <header>
        <Name d={d} who={from} /><span class="arrow" aria-label="to">→</span>{m.to.map((t) => <Name key={t} d={d} who={t} />)}
        {kinds[m.kind] && <Badge tone={m.kind === "question" ? "amber" : m.kind === "report" ? states[m.state || ""] : m.kind === "task" ? "accent" : "gray"}>{m.kind === "report" && m.state ? m.state : kinds[m.kind]}</Badge>}
        {m.task && <span class="mono small muted">{m.task}</span>}
        <span class="grow" /><time class="muted small mono" dateTime={m.at}>{clock(m.at)}</time>
      </header>
      <Long><Html html={m.html} />{m.cut && <p class="muted small">There is more; the log has all of it.</p>}</Long>
      {(m.files || []).length > 0 && <p class="mail-files">{m.files!.map((f) => <button key={f} type="button" class="link mono" onClick={() => read(f, m.from)}>{f}</button>)}</p>}
      <footer><Fates m={m} /></footer>
    </article>
  );
}

// Long keeps a long text short until somebody wants to read it.
function Long({ children }: { children: any }) {
  const box = useRef<HTMLDivElement>(null);
  const [long, setLong] = useState(false);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const el = box.current;
    if (el && !open) setLong(el.scrollHeight > el.clientHeight + 8);
  });
  return (
    <>
      <div ref={box} class={"mail-text" + (open ? " open" : long ? " long" : "")}>{children}</div>
      {(long || open) && <button type="button" class="link small" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "Less" : "Read all"}</button>}
    </>
  );
}

export const waits = (m: Mail) => m.fates.some((f) => f.state === "queued" || f.state === "waiting");

function Fates({ m }: { m: Mail }) {
  const { id, d, again } = useTeam();
  const task = useTask();
  const many = m.fates.length > 1;
  return (
    <span class="fates" role={m.mine ? "status" : undefined}>
      {m.fates.map((f: Fate) => <Badge key={f.to} tone={fateTone[f.state]}>{many && f.to + ": "}{fateWords(f)}</Badge>)}
      {m.kind === "person" && waits(m) && !d.over && <Button small kind="quiet" busy={task.busy} onClick={() => task.run(async () => { await act(id, "withdraw", { message: m.id }); again(); })}>Take back</Button>}
      <Trouble of={task.problem} />
    </span>
  );
}

// Letters are all messages, the newest first.
export function Letters({ member }: { member: string }) {
  const { id } = useTeam();
  const url = `/api/teams/${seg(id)}/mail`;
  const data = useData<{ mail: Mail[]; total: number; before?: number }>(url + query({ limit: 40, member }), id);
  const [older, setOlder] = useState<Mail[]>([]);
  const [before, setBefore] = useState<number | undefined>();
  const task = useTask();
  const p = data.value.value;
  useEffect(() => {
    setOlder([]);
  }, [member]);
  useEffect(() => {
    if (!older.length) setBefore(p?.before);
  }, [p, older.length]);
  if (!p) return <Loading of={data} />;
  const known = new Set(p.mail.map((m) => m.id));
  const all = [...older.filter((m) => !known.has(m.id)), ...p.mail];
  if (!all.length) return <Empty>Nobody has written anything yet.</Empty>;
  return (
    <div class="letters">
      {[...all].reverse().map((m) => <MailCard key={m.id} m={m} />)}
      <Trouble of={task.problem} />
      {!!before && <Button kind="quiet" small busy={task.busy} onClick={() => task.run(async () => {
        const r = await get<{ mail: Mail[]; before?: number }>(url + query({ limit: 40, member, before }));
        setOlder((o) => [...r.mail, ...o]);
        setBefore(r.before);
      })}>Earlier</Button>}
    </div>
  );
}

// What is being written outlives a change of page.
const drafts = new Map<string, string>();

// sentNow counts what was sent from here: whoever has sent something wants to see it.
export const sentNow = signal(0);

export function Composer({ to, onTo }: { to: string; onTo: (who: string) => void }) {
  const { id, d, again } = useTeam();
  const [text, setText] = useState(drafts.get(id) || "");
  const task = useTask();
  const click = useRef(key()); // the same until it is said: a second click says nothing twice
  const box = useRef<HTMLDivElement>(null);
  const there = d.team.members.filter((m) => m.state !== "lost");
  const who = there.some((m) => m.agent === to) ? to : leaderOf(d);
  const put = (s: string) => {
    drafts.set(id, s);
    setText(s);
    click.current = key();
  };
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && to) box.current?.querySelector("textarea")?.focus();
    first.current = false;
  }, [to]);
  const send = () => task.run(async () => {
    if (!text.trim()) return;
    await act(id, "messages", { text: text.trim(), to: [who] }, click.current);
    put("");
    sentNow.value++; // the card says what becomes of it
    again();
  });
  return (
    <section class="composer" aria-label="Write to the team" ref={box}>
      <Sent />
      <Trouble of={task.problem} />
      <div class="composer-in">
        <select aria-label="To" value={who} onChange={(e: any) => { onTo(e.currentTarget.value); click.current = key(); }}>
          {there.map((m) => <option key={m.agent} value={m.agent}>{m.avatar ? m.avatar + " " : ""}{m.agent}{m.leader ? " (leads)" : ""}</option>)}
        </select>
        <Area label={"Message to " + who} rows={1} value={text} onText={put} onSend={send} placeholder={`Say something to ${who}`} onKeyDown={(e: KeyboardEvent) => {
          if (e.key === "Enter" && !e.shiftKey && !e.ctrlKey && !e.metaKey && !e.isComposing) {
            e.preventDefault();
            send();
          }
        }} />
        <Button kind="main" busy={task.busy} disabled={!text.trim()} onClick={send}>Send</Button>
      </div>
    </section>
  );
}

// Sent is what people have said and what became of it.
function Sent() {
  const { d } = useTeam();
  const [all, setAll] = useState(false);
  const list = d.yours;
  if (!list.length) return null;
  const shown = all ? list : list.slice(-2);
  return (
    <div class="sent" role="group" aria-label="What you said">
      {list.length > shown.length || all ? <button type="button" class="link small" aria-expanded={all} onClick={() => setAll(!all)}>{all ? "Fewer" : `${list.length - shown.length} more`}</button> : null}
      {shown.map((m) => (
        <div class="sent-line" key={m.id}>
          <span class="muted small">to {and(m.to)}</span><span class="sent-text">{m.text.text}</span><Fates m={m} />
        </div>
      ))}
    </div>
  );
}
