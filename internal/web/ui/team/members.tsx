// Who is in the team and what each of them does: a banner for everybody.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { seg } from "../lib/api";
import { plural } from "../lib/format";
import { onLive } from "../lib/stream";
import { Badge, Button, Dialog, say, Trouble, useTask } from "../parts/basic";
import { act, memberOf, useTeam } from "./context";
import { hue, type Member, stands, type TeamData } from "./types";

// Face is how somebody is known at a glance. Its name stands beside it.
export function Face({ d, who, small }: { d: TeamData; who: string; small?: boolean }) {
  const m = memberOf(d, who);
  return <span class={"face" + (small ? " small" : "") + (m?.state === "lost" ? " gone" : "")} style={{ "--hue": String(hue(m?.role || who)) }} aria-hidden="true">{m?.avatar || (who === "you" ? "☺" : who === "conclave" ? "✶" : who.slice(0, 2))}</span>;
}

export function Name({ d, who }: { d: TeamData; who: string }) {
  return <span class="who-name"><Face d={d} who={who} small /> <b>{who}</b></span>;
}

const tones: Record<string, string> = { working: "blue", waiting: "gray", asking: "amber", resting: "amber", lost: "red", idle: "gray" };
const words: Record<string, string> = { asking: "asks you" };

export function Banners({ picked, onPick }: { picked: string; onPick: (who: string) => void }) {
  const { d, id } = useTeam();
  const said = useLiveText(id);
  return (
    <div class="banners" role="group" aria-label="Members">
      {d.team.members.map((m) => <Banner key={m.agent} m={m} live={d.over ? "" : said[m.agent] || ""} picked={picked === m.agent} onPick={() => onPick(picked === m.agent ? "" : m.agent)} />)}
      <Teller d={d} />
    </div>
  );
}

function Banner({ m, live, picked, onPick }: { m: Member; live: string; picked: boolean; onPick: () => void }) {
  const { d, write } = useTeam();
  const [ask, setAsk] = useState(false);
  return (
    <section class={"banner-card " + m.state + (picked ? " picked" : "")} aria-label={m.agent}>
      <Face d={d} who={m.agent} />
      <div class="banner-in">
        <div class="banner-top">
          <button type="button" class="banner-name" aria-pressed={picked} title={picked ? "Show everybody" : "Show only what " + m.agent + " does"} onClick={onPick}>{m.agent}</button>
          <span class="muted small banner-role">{m.title || m.role}{m.leader && " · leads"}</span>
          <span class="grow" />
          <Badge tone={tones[m.state]}>{m.state === "working" && <span class="pulse" aria-hidden="true" />}{(d.over && m.state === "idle" ? "done" : words[m.state]) || (m.stopped ? "stopped" : m.state)}</Badge>
        </div>
        <div class="banner-doing" title={stands(m, d.over)}>{live ? <span class="banner-live" aria-hidden="true">{live}</span> : stands(m, d.over)}</div>
        <div class="banner-foot muted small">
          <span>{plural(m.turns, "turn")}</span>{(m.model || m.backend) && <span class="mono">{m.model || m.backend}</span>}
          {!!m.queued && <Badge tone="amber">{m.queued} queued</Badge>}{m.unmerged && <Badge tone="accent">not merged</Badge>}{!!m.restarts && <span>begun again {m.restarts}×</span>}
          <span class="grow" />
          {!d.over && m.state !== "lost" && (
            <span class="banner-acts">
              <Button small kind="quiet" aria-label={"Write to " + m.agent} title={"Write to " + m.agent} onClick={() => write(m.agent)}>✉</Button>
              {!m.leader && <Button small kind="quiet" aria-label={"Stop " + m.agent} title={"Stop " + m.agent} onClick={() => setAsk(true)}>■</Button>}
            </span>
          )}
        </div>
      </div>
      {ask && <StopMember m={m} onClose={() => setAsk(false)} />}
    </section>
  );
}

function StopMember({ m, onClose }: { m: Member; onClose: () => void }) {
  const { id, d, again } = useTeam();
  const task = useTask();
  const open = d.tasks.filter((t) => t.owner === m.agent && t.state === "open");
  return (
    <Dialog title={"Stop " + m.agent} onClose={onClose}>
      <p>It takes no more turns in this team, and the leader is told. What it has committed stays.</p>
      {open.length > 0 && <p>It has not finished {open.map((t) => t.title).join(", ")}: the leader has to give {open.length > 1 ? "them" : "it"} to somebody else.</p>}
      <Trouble of={task.problem} />
      <div class="actions">
        <Button kind="main" class="danger" busy={task.busy} onClick={() => task.run(async () => { await act(id, `members/${seg(m.agent)}/stop`); say(m.agent + " is stopped"); again(); onClose(); })}>Stop {m.agent}</Button>
        <Button kind="quiet" onClick={onClose}>Back</Button>
      </div>
    </Dialog>
  );
}

// Teller says to those who cannot see it when somebody does something else.
function Teller({ d }: { d: TeamData }) {
  const before = useRef<Record<string, string>>({});
  const [news, setNews] = useState("");
  useEffect(() => {
    const changed: string[] = [];
    for (const m of d.team.members) {
      if (before.current[m.agent] !== undefined && before.current[m.agent] !== m.state) changed.push(m.agent + ": " + (m.state === "waiting" ? stands(m) : words[m.state] || m.state));
      before.current[m.agent] = m.state;
    }
    if (changed.length) setNews(changed.join("; "));
  }, [d]);
  return <span class="sr" role="status" aria-live="polite">{news}</span>;
}

// useLiveText is the end of what each of the agents of a flow is saying just now.
function useLiveText(flow: string): Record<string, string> {
  const store = useMemo(() => signal<Record<string, string>>({}), [flow]);
  useEffect(() => onLive((l) => {
    if (l.flow !== flow) return;
    const now = store.value[l.agent] || "";
    if (l.kind === "end") store.value = { ...store.value, [l.agent]: "" };
    else if (l.kind === "text") store.value = { ...store.value, [l.agent]: ((l.anew ? "" : now) + l.text).slice(-300) };
  }), [flow]);
  return store.value;
}

const dots: Record<string, string> = { done: "✓", now: "", ahead: "", left: "✗" };
const phaseWords: Record<string, string> = { ahead: "not begun", now: "goes on", left: "left undone" };

// Phases is how far the work is.
export function Phases() {
  const { d } = useTeam();
  const all = d.team.phases || [];
  if (!all.length) return null;
  return (
    <ol class="phase-line" aria-label="Phases">
      {all.map((p) => (
        <li key={p.name} class={p.state} aria-current={p.state === "now" ? "step" : undefined}>
          <span class="phase-dot" aria-hidden="true">{dots[p.state]}</span>
          <span class="phase-name">{p.name}<span class="sr">: {phaseWords[p.state] || p.state}</span></span>
          {p.tasks > 0 && <span class="muted small">{p.done}/{p.tasks}</span>}
        </li>
      ))}
    </ol>
  );
}
