// What needs you, what is at work, what is done.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, key, query } from "../lib/api";
import { useData } from "../lib/data";
import { opening, useKeys } from "../lib/keys";
import { go, to } from "../lib/route";
import { useTitle } from "../lib/title";
import { Ago, Badge, Button, Empty, Loading, Trouble, useTask } from "../parts/basic";

export interface Row {
  id: string; kind: string; title: string; preview?: string; state: string; needs?: boolean; working?: boolean; why?: string;
  agents?: string[]; mode?: string; session?: string; parent?: string; project?: string; started?: string; last?: string; damaged?: string; stopped?: boolean; offline?: boolean;
}
export interface HomeData { needs: Row[]; working: Row[]; done: Row[]; total: number; next?: number }

const kinds = [["", "All"], ["job", "Jobs"], ["team", "Teams"], ["session", "Sessions"], ["run", "Runs"]];

export function Home() {
  useTitle("");
  const [typed, setTyped] = useState("");
  const [q, setQ] = useState("");
  const [kind, setKind] = useState("");
  const [more, setMore] = useState<Row[]>([]);
  const [next, setNext] = useState<number | undefined>();
  const data = useData<HomeData>("/api/home" + query({ q, kind, limit: 30 }), "home");
  const home = data.value.value;
  const box = useRef<HTMLInputElement>(null);
  const task = useTask();

  useEffect(() => {
    const t = setTimeout(() => setQ(typed.trim()), 200);
    return () => clearTimeout(t);
  }, [typed]);
  useEffect(() => {
    setMore([]);
    setNext(home?.next);
  }, [home]);

  const step = (by: number) => {
    const rows = [...document.querySelectorAll<HTMLElement>("a.row")];
    const i = rows.indexOf(document.activeElement as HTMLElement);
    rows[Math.max(0, Math.min(rows.length - 1, i + by))]?.focus();
  };
  useKeys([
    { key: "j", what: "next line", do: () => step(1) },
    { key: "k", what: "line before", do: () => step(-1) },
    { key: "/", what: "search", do: () => box.current?.focus() },
  ]);

  const begin = () => task.run(() => opening(async () => {
    const r = await post<{ id: string }>("/api/sessions", { kind: "interactive", key: key() });
    go(to.session(r.id));
  }));

  return (
    <div class="page home">
      <div class="head">
        <h1>Home</h1>
        <span class="grow" />
        <Button onClick={begin} busy={task.busy}>New session</Button>
        <a class="btn" href="/teams/new">New team</a>
        <a class="btn main" href="/new">New job</a>
      </div>
      <Trouble of={task.problem} />
      <div class="filters">
        <input ref={box} type="search" placeholder="Search titles and what was said" aria-label="Search" value={typed} onInput={(e: any) => setTyped(e.currentTarget.value)} />
        <div class="segments" role="group" aria-label="Kind">
          {kinds.map(([id, name]) => <button key={id} type="button" aria-pressed={kind === id} onClick={() => setKind(id)}>{name}</button>)}
        </div>
      </div>
      {!home ? <Loading of={data} /> : (
        <div class="columns">
          <Section name="Needs you" rows={home.needs} none="Nothing waits for you." tone="amber" />
          <Section name="At work" rows={home.working} none="Nothing is going on." tone="blue" />
          <Section name="Done" count={home.total} rows={[...home.done, ...more]} none={q ? "Nothing that matches." : "Nothing yet. Begin with a new job, a team or a session."} tone="gray">
            {next !== undefined && <Button kind="quiet" busy={task.busy} onClick={() => task.run(async () => {
              const r = await get<HomeData>("/api/home" + query({ q, kind, limit: 30, offset: next }));
              setMore((m) => [...m, ...r.done]);
              setNext(r.next);
            })}>More</Button>}
          </Section>
        </div>
      )}
    </div>
  );
}

function Section({ name, rows, none, tone, count, children }: { name: string; rows: Row[]; none: string; tone: string; count?: number; children?: any }) {
  return (
    <section aria-label={name} class={"lane " + tone}>
      <h2>{name} <span class="count">{count ?? rows.length}</span></h2>
      {rows.length === 0 && <Empty>{none}</Empty>}
      <ul class="rows">{rows.map((r) => <li key={r.id}><Line r={r} /></li>)}</ul>
      {children}
    </section>
  );
}

const marks: Record<string, string> = { job: "Job", team: "Team", session: "Chat", run: "Run" };

function Line({ r }: { r: Row }) {
  return (
    <a class="row" href={to.row(r)}>
      <span class="row-top"><span class={"kind " + r.kind}>{marks[r.kind] || r.kind}</span><span class="row-title">{r.title || "(untitled)"}</span></span>
      {(r.why || r.preview) && <span class="row-text">{r.why || r.preview}</span>}
      <span class="row-foot"><Badge of={r.state} tone={r.stopped ? "red" : undefined} />{r.offline && <Badge>offline</Badge>}{r.agents && r.agents.length > 1 && <span class="muted">{r.agents.length} agents</span>}<span class="grow" /><Ago at={r.last || r.started} /></span>
    </a>
  );
}
