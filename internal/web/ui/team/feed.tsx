// What happens, in order: who takes a turn, what it says and does, messages, merges
// and notices. What was only looked at is put together and unfolds.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { between, clock, plural, short } from "../lib/format";
import { to } from "../lib/route";
import { Badge, Button, Empty, Html, Loading, Trouble, useTask } from "../parts/basic";
import { memberOf, useTeam } from "./context";
import { MailCard, sentNow } from "./mail";
import { Face } from "./members";
import type { FeedItem, FeedPage, Merge, ToolUse } from "./types";

const most = 60;

export function Feed({ member }: { member: string }) {
  const { id, d } = useTeam();
  const url = `/api/teams/${seg(id)}/feed`;
  const data = useData<FeedPage>(url + query({ limit: most, member }), id);
  const [older, setOlder] = useState<FeedItem[]>([]);
  const [before, setBefore] = useState<number | undefined>();
  const [below, setBelow] = useState(false); // there is something newer than what is looked at
  const task = useTask();
  const list = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const p = data.value.value;
  useEffect(() => {
    setOlder([]);
    stick.current = true;
  }, [member]);
  useEffect(() => {
    if (!older.length) setBefore(p?.before);
  }, [p, older.length]);
  const sent = sentNow.value;
  const counted = useRef(sent);
  useLayoutEffect(() => {
    if (counted.current === sent) return;
    counted.current = sent;
    stick.current = true;
    list.current?.scrollTo({ top: list.current.scrollHeight });
    setBelow(false);
  }, [sent]);
  useLayoutEffect(() => {
    const el = list.current;
    if (el && stick.current) el.scrollTop = el.scrollHeight;
    else if (el) setBelow(true);
  }, [p]);
  if (!p) return <Loading of={data} />;
  const first = p.items[0]?.index ?? 0;
  const items = [...older.filter((o) => o.index < first), ...p.items];
  const down = () => {
    stick.current = true;
    list.current?.scrollTo({ top: list.current.scrollHeight });
    setBelow(false);
  };
  return (
    <div class="feed-box">
      <div class="feed-list" ref={list} role="log" aria-label="What happens" aria-live="off" tabIndex={0} onScroll={(e: any) => {
        const el = e.currentTarget;
        stick.current = el.scrollHeight - el.scrollTop - el.clientHeight < 60;
        if (stick.current) setBelow(false);
      }}>
        {!!before && <Button kind="quiet" small busy={task.busy} onClick={() => task.run(async () => {
          stick.current = false;
          const r = await get<FeedPage>(url + query({ limit: most, member, before }));
          setOlder((o) => [...r.items, ...o]);
          setBefore(r.before);
        })}>Earlier</Button>}
        <Trouble of={task.problem} />
        {items.length === 0 && <Empty>{d.over ? "Nothing happened." : "Nothing has happened yet."}</Empty>}
        {items.map((i) => <Line key={i.index} i={i} />)}
      </div>
      {below && <Button small class="feed-down" onClick={down}>↓ Newest</Button>}
    </div>
  );
}

function Line({ i }: { i: FeedItem }) {
  const { d } = useTeam();
  switch (i.kind) {
    case "turn": return <TurnBanner i={i} />;
    case "mail": return i.mail ? <MailCard m={i.mail} /> : null;
    case "tools": return <Group i={i} />;
    case "text": return <Did i={i}><div class="bubble agent"><Html html={i.html} />{i.cut && <p class="muted small">There is more; the log has all of it.</p>}</div></Did>;
  }
  if (i.merge) return <MergeCard m={i.merge} />;
  return (
    <div class={"feed-note" + (i.error ? " error" : "")}>
      {i.agent && <Face d={d} who={i.agent} small />}
      <span>{i.agent && <b>{i.agent} </b>}{i.title}{i.text && (i.text.length < 90 && !i.text.includes("\n") ? <span>: {i.text}</span> : <details class="inline"><summary>more</summary>{i.html ? <Html html={i.html} /> : <pre class="plaintext">{i.text}{i.cut && "\n…"}</pre>}</details>)}</span>
      <span class="grow" /><time class="mono" dateTime={i.at}>{clock(i.at)}</time>
    </div>
  );
}

// TurnBanner says whose turn begins.
function TurnBanner({ i }: { i: FeedItem }) {
  const { d } = useTeam();
  const m = memberOf(d, i.agent);
  return (
    <div class="turn-banner" role="group" aria-label={`${i.agent} ${i.title}`}>
      <Face d={d} who={i.agent || ""} />
      <b>{i.agent}</b><span class="muted small">{m?.title || m?.role}</span><span class="small">{i.title}</span>
      {i.error && <Badge tone="red">{i.text || "failed"}</Badge>}
      <span class="grow" /><time class="muted small mono" dateTime={i.at}>{clock(i.at)}</time>
    </div>
  );
}

// Did is something one of them did: its face stands beside it.
function Did({ i, children }: { i: FeedItem; children: any }) {
  const { d } = useTeam();
  return <div class="did"><Face d={d} who={i.agent || ""} small /><div class="did-in"><span class="sr">{i.agent}: </span>{children}</div></div>;
}

// Group is some uses of tools, folded. One alone is shown as it is.
function Group({ i }: { i: FeedItem }) {
  const [open, setOpen] = useState(false);
  const tools = i.tools || [];
  const going = tools.some((t) => t.state === "running");
  const failed = tools.filter((t) => t.state === "failed" || t.state === "unknown").length;
  if (tools.length === 1 && !i.more) return <Did i={i}><Use t={tools[0]} /></Did>;
  return (
    <Did i={i}>
      <details class={"step tool group" + (failed === tools.length ? " error" : "")} onToggle={(e: any) => setOpen(e.currentTarget.open)}>
        <summary>
          {going ? <span class="spin" aria-hidden="true" /> : <span class="fold" aria-hidden="true">{open ? "▾" : "▸"}</span>}
          <span class="what">{i.title}</span>{failed > 0 && <Badge tone="red">{failed} failed</Badge>}
          <span class="muted small">{i.ended && between(i.at, i.ended)}</span>
        </summary>
        {open && <ul class="plain uses">{tools.map((t) => <li key={t.seq + t.name + t.what}><Use t={t} /></li>)}</ul>}
        {open && !!i.more && <p class="muted small">{plural(i.more, "more use")}; the log has them.</p>}
      </details>
    </Did>
  );
}

const verbs: Record<string, string> = { read: "read", search: "searched", list: "listed" };

function Use({ t }: { t: ToolUse }) {
  const { id } = useTeam();
  const mark = t.state === "running" ? <span class="spin" aria-hidden="true" /> : <span aria-hidden="true">{t.state === "ok" ? "✓" : t.state === "unknown" ? "?" : "✕"}</span>;
  const bad = t.state === "failed" || t.state === "unknown";
  return (
    <details class={"step tool" + (bad ? " error" : "")}>
      <summary>{mark}<span class="what">{verbs[t.kind] && t.what ? verbs[t.kind] : t.name} {t.what && <span class="mono">{t.what}</span>}</span>{t.state === "unknown" && <span class="small">nobody knows what came of it</span>}</summary>
      {t.result ? <pre class="plaintext result">{t.result}</pre> : <p class="muted small">{t.state === "running" ? "It goes on." : "It said nothing."}</p>}
      <p class="small"><span class="mono muted">{t.name}</span> <a href={to.audit(id, t.seq)}>all of it</a></p>
    </details>
  );
}

export function MergeCard({ m }: { m: Merge }) {
  const { d, read } = useTeam();
  const bad = (m.conflicts || []).length > 0;
  return (
    <article class={"mail-card merge" + (bad ? " conflict" : "")} aria-label={"Merge of " + m.member}>
      <header>
        <Face d={d} who={m.member} small /><b>{m.member}</b><span class="arrow" aria-label="into">→</span><span>shared tree</span>
        <Badge tone={bad ? "red" : "green"}>{bad ? plural(m.conflicts!.length, "conflict") : m.commit ? "merged" : "nothing new"}</Badge>
        {m.prefer && <span class="muted small">{m.prefer === "theirs" ? m.member + "’s side was taken" : "the shared side was taken"}</span>}
        <span class="grow" />{m.commit && !bad && <span class="mono muted small">{short(m.commit)}</span>}<time class="muted small mono" dateTime={m.at}>{clock(m.at)}</time>
      </header>
      {bad && <p class="small">Both have changed these, and nothing was merged: {m.conflicts!.map((c, i) => <span key={c}>{i > 0 && ", "}<span class="mono">{c}</span></span>)}</p>}
      {!bad && (m.changes || []).length > 0 && (
        <details class="small"><summary>{plural(m.total || m.changes!.length, "file")}</summary>
          <ul class="plain">{m.changes!.map((c) => <li key={c.path}><Badge tone={changeTone[c.kind]}>{c.kind}</Badge> {c.kind === "deleted" ? <span class="mono">{c.path}</span> : <button type="button" class="link mono" onClick={() => read(c.path)}>{c.path}</button>}</li>)}</ul>
        </details>
      )}
    </article>
  );
}

export const changeTone: Record<string, string> = { new: "green", modified: "blue", deleted: "red" };
