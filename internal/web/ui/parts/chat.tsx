// A conversation: what people said on the right, what the agent said and did on
// the left. The same part is the page of a session and the companion beside a job.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, key, post, query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { onLive } from "../lib/stream";
import { plural } from "../lib/format";
import { Area, Badge, Button, fault, Loading, Trouble, useTask } from "./basic";
import { GateCard, type GateData } from "./gate";
import { Stopped } from "./stopped";
import { StepView, type Step } from "./steps";

export interface Turn { id: string; index: number; at: string; text: string; html: string; by?: string; steps: Step[]; more?: number; runs?: any[]; over?: boolean; failed?: string }
export interface SessionData {
  id: string; seq: number; kind: string; title: string; state: string; turns: Turn[]; total: number; before?: number; gates: GateData[];
  held?: { id: string; at: string; text: string }[]; heard?: { id: string; at: string; text?: string }[];
  going?: string[]; running?: string; refusals?: any[]; cost?: { usd?: number; tokens: number; text: string }; agent?: string; model?: string; job?: string; driver?: any; stopped?: boolean;
  outline?: { title?: string; description?: string; instructions?: string; by?: string };
}

export interface ChatUses {
  job?: string;
  onFeedback?: (text: string) => void;
  onOutline?: (o: { title?: string; description?: string; instructions?: string }) => void;
  canEdit?: boolean;
}

const busyStates = ["chatting", "processing", "running", "keeping"];

export function useSession(id: string) {
  return useData<SessionData>(id ? "/api/sessions/" + seg(id) + "?limit=20" : "", id || undefined, id && "home"); // home tells when a driver is gone
}

export function Chat({ id, data, uses = {}, hints = [], placeholder = "Say something", autofocus }: {
  id: string; data: ReturnType<typeof useSession>; uses?: ChatUses; hints?: string[]; placeholder?: string; autofocus?: boolean;
}) {
  const s = data.value.value;
  const [older, setOlder] = useState<Turn[]>([]);
  const [before, setBefore] = useState<number | undefined>();
  const task = useTask();
  const list = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const live = useLive(id, s?.seq || 0);

  useEffect(() => {
    if (!older.length) setBefore(s?.before);
  }, [s?.before]);
  useLayoutEffect(() => {
    const el = list.current;
    if (el && stick.current) el.scrollTop = el.scrollHeight;
  });

  if (!s) return <Loading of={data} what="Opening the conversation" />;
  const turns = [...older.filter((o) => !s.turns.some((t) => t.id === o.id)), ...s.turns];
  const busy = busyStates.includes(s.state) && !s.stopped;
  return (
    <div class="chat">
      <div class="chat-list" ref={list} role="log" aria-label="Conversation" tabIndex={0} onScroll={(e: any) => {
        const el = e.currentTarget;
        stick.current = el.scrollHeight - el.scrollTop - el.clientHeight < 60;
      }}>
        {before !== undefined && <Button kind="quiet" small busy={task.busy} onClick={() => task.run(async () => {
          stick.current = false;
          const r = await get<SessionData>("/api/sessions/" + seg(id) + query({ limit: 20, before }));
          setOlder((o) => [...r.turns, ...o]);
          setBefore(r.before);
        })}>Earlier</Button>}
        {turns.length === 0 && !s.held?.length && !s.heard?.length && <Hello hints={hints} onPick={(t) => say(t)} />}
        {turns.map((t, i) => <TurnView key={t.id} t={t} session={s} uses={uses} live={i === turns.length - 1 && !t.over ? live : null} />)}
        {s.held?.map((h) => (
          <div class="bubble you held" key={h.id}>
            <div>{h.text}</div>
            <footer>waits until the agent can hear it <Button small kind="quiet" onClick={() => task.run(() => post(`/api/sessions/${seg(id)}/withdraw`, { message: h.id, key: key() }))}>Take back</Button></footer>
          </div>
        ))}
        {s.heard?.filter((h) => h.text && !s.held?.some((x) => x.id === h.id)).map((h) => <div class="bubble you held" key={h.id}><div>{h.text}</div><footer>on its way</footer></div>)}
        {s.gates.map((g) => <GateCard key={g.gate + g.revision} g={g} flow={id} />)}
        {busy && !live.text && <div class="typing" role="status"><i /><i /><i /><span class="sr">The agent is at work</span></div>}
      </div>
      {s.stopped && <Stopped flow={id} again={data.again} />}
      <Trouble of={task.problem || fault(data.error.value)} />
      <Input id={id} autofocus={autofocus} busy={busy} placeholder={placeholder} onSend={say} onStop={() => task.run(() => post(`/api/sessions/${seg(id)}/cancel`, { key: key() }))} />
    </div>
  );

  function say(text: string) {
    stick.current = true;
    return task.run(async () => {
      await post(`/api/sessions/${seg(id)}/messages`, { text, key: key() });
      data.again();
    });
  }
}

function Hello({ hints, onPick }: { hints: string[]; onPick: (s: string) => void }) {
  return (
    <div class="hello">
      {hints.length > 0 && <p class="muted">You could ask:</p>}
      {hints.map((h) => <button type="button" key={h} onClick={() => onPick(h)}>{h}</button>)}
    </div>
  );
}

// Drafts outlive a change of page; the session itself is on the server.
const drafts = new Map<string, string>();

function Input({ id, autofocus, busy, placeholder, onSend, onStop }: { id: string; autofocus?: boolean; busy: boolean; placeholder: string; onSend: (s: string) => Promise<boolean>; onStop: () => void }) {
  const [text, setText] = useState(drafts.get(id) || "");
  const [sending, setSending] = useState(false);
  const put = (s: string) => {
    drafts.set(id, s);
    setText(s);
  };
  const send = async () => {
    const t = text.trim();
    if (!t || sending) return;
    setSending(true);
    if (await onSend(t)) put("");
    setSending(false);
  };
  return (
    <form class="chat-input" onSubmit={(e) => { e.preventDefault(); send(); }}>
      <Area label="Message" autofocus={autofocus} rows={2} value={text} onText={put} placeholder={placeholder} onKeyDown={(e: KeyboardEvent) => {
        if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
          e.preventDefault();
          send();
        }
      }} />
      <div class="actions">
        <span class="muted hint">Enter sends, Shift+Enter begins a line</span><span class="grow" />
        {busy && <Button small kind="danger" onClick={onStop}>Stop</Button>}
        <Button small kind="main" type="submit" busy={sending} disabled={!text.trim()}>Send</Button>
      </div>
    </form>
  );
}

function TurnView({ t, session, uses, live }: { t: Turn; session: SessionData; uses: ChatUses; live: LiveText | null }) {
  // The fact may be there before the stream says that the call has ended.
  if (live?.text && t.steps.some((s) => s.kind === "text" && s.text?.trim().startsWith(live!.text.trim()))) live = null;
  return (
    <div class="turn">
      {t.text && <div class="bubble you" title={new Date(t.at).toLocaleString()}>{t.html ? <div class="prose" dangerouslySetInnerHTML={{ __html: t.html }} /> : t.text}</div>}
      {!!t.more && <p class="muted small">{plural(t.more, "earlier step")} left out</p>}
      {t.steps.map((s) => <StepView key={s.id + s.kind} s={s} session={session} uses={uses} />)}
      {t.steps.length === 0 && t.runs?.map((r) => <StepView key={r.id} s={{ id: r.id, at: r.began, kind: "run", run: r.id, done: r.over, html: r.answer_html, text: r.answer_text } as Step} session={session} uses={uses} />)}
      {live && live.text && <div class="bubble agent live" aria-hidden="true">{live.text}</div>}
      {live && !live.text && live.tool && <div class="step muted small">calls {live.tool}…</div>}
      {t.failed && <div class="trouble">{t.failed}</div>}
    </div>
  );
}

interface LiveText { text: string; tool: string }

// useLive is what the agent of a session says just now. It goes once the fact is
// there that says it.
function useLive(flow: string, seq: number): LiveText {
  const store = useMemo(() => ({ now: signal<LiveText>({ text: "", tool: "" }), call: "", ended: false }), [flow]);
  useEffect(() => onLive((l) => {
    if (l.flow !== flow) return;
    const call = `${l.agent}/${l.turn?.round}.${l.turn?.take}/${l.call}`;
    if (l.kind === "end") {
      store.ended = true;
      return;
    }
    if (call !== store.call || l.anew || store.ended) {
      store.call = call;
      store.ended = false;
      store.now.value = { text: "", tool: "" };
    }
    if (l.kind === "text") store.now.value = { ...store.now.value, text: store.now.value.text + l.text };
    if (l.kind === "tool") store.now.value = { ...store.now.value, tool: l.text };
  }), [flow]);
  useEffect(() => {
    if (store.ended) store.now.value = { text: "", tool: "" };
  }, [seq]);
  return store.now.value;
}

// Tools shows what the companion has at hand, by tier, and lets a person say
// otherwise.
export function Abilities({ job, session }: { job: string; session: string }) {
  const data = useData<{ tiers: Tier[] }>(`/api/jobs/${seg(job)}/abilities`, session || undefined, job);
  const task = useTask();
  const tiers = data.value.value?.tiers || [];
  const set = (tier: string, to: string) => task.run(async () => {
    await post(`/api/jobs/${seg(job)}/abilities`, { tier, set: to, key: key() });
    data.again();
  });
  const on = tiers.filter((t) => t.on).length;
  return (
    <details class="abilities">
      <summary>Tools <span class="count">{on}/{tiers.length}</span></summary>
      <Trouble of={task.problem} />
      <ul class="plain">
        {tiers.map((t) => (
          <li key={t.name}>
            <label><input type="checkbox" checked={t.on} disabled={task.busy} onChange={() => set(t.name, t.on ? "off" : "on")} aria-label={"Tools: " + t.name} /> <b>{t.name}</b></label>
            {t.forced ? <Button small kind="quiet" onClick={() => set(t.name, "auto")}>set by you · automatic</Button> : <Badge>automatic</Badge>}
            <div class="muted small">{t.why}</div>
            <div class="mono small">{t.tools?.join(", ")}</div>
          </li>
        ))}
      </ul>
    </details>
  );
}
interface Tier { name: string; on: boolean; why: string; tools: string[]; forced?: boolean }
