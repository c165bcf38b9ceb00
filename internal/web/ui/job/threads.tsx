// Comments: threads on lines of a file, and how the agent dealt with them.

import { useState } from "preact/hooks";
import { Ago, Area, Badge, Button, Trouble, useTask } from "../parts/basic";
import type { JobThread } from "../lib/types";
import { act, fate, reviewing, useJob } from "./context";
import { post, key, seg } from "../lib/api";

const fates: Record<string, [string, string]> = {
  changed: ["green", "addressed"], kept: ["blue", "answered, not changed"], unaddressed: ["red", "not addressed"], sent: ["gray", "sent to the agent"],
};

export function ThreadCard({ t, showPlace, moved }: { t: JobThread; showPlace?: boolean; moved?: boolean }) {
  const { id, d, again, tab } = useJob();
  const [reply, setReply] = useState<string | null>(null);
  const [shut, setShut] = useState(!!t.resolved);
  const task = useTask();
  const f = fate(t, d.job);
  const can = reviewing(d.job);
  const resolve = (on: boolean) => task.run(async () => {
    await post(`/api/jobs/${seg(id)}/comments/${seg(t.id)}/resolve`, { on, key: key() });
    setShut(on);
    again();
  });
  const send = () => task.run(async () => {
    await act(id, "comments", { reply: t.id, text: reply!.trim() });
    setReply(null);
    again();
  });
  if (shut && t.resolved)
    return <button type="button" class="thread-shut" onClick={() => setShut(false)}>✓ resolved: {t.text.slice(0, 80)}</button>;
  return (
    <article class={"thread" + (t.resolved ? " resolved" : "")} aria-label={"Comment by " + (t.by || "you")}>
      {showPlace && <button type="button" class="link mono small" onClick={() => tab(t.path === "workspace.md" ? "memory" : "plan")}>{t.path}{t.line ? ":" + t.line : ""}</button>}
      {t.quote && (showPlace || moved) && <blockquote>{t.quote.slice(0, 240)}</blockquote>}
      <Said by={t.by} at={t.at} text={t.text}>
        {moved && <Badge>on an earlier revision</Badge>}
        {fates[f] && <Badge tone={fates[f][0]}>{fates[f][1]}</Badge>}
        {t.resolved && <Badge tone="green">resolved</Badge>}
      </Said>
      {t.replies?.map((r, i) => <Said key={i} by={r.by} at={r.at} text={r.text} />)}
      {t.answer && <div class="said-by agent"><div class="meta"><b>agent</b> <span class="muted">{t.answer.changed ? "changed it" : "did not change it"}</span></div><div class="pre">{t.answer.text}</div></div>}
      {f === "unaddressed" && <p class="small muted">The agent has not said how it dealt with this.</p>}
      {reply !== null && <Area label="Reply" autofocus rows={2} value={reply} onText={setReply} onSend={send} />}
      <Trouble of={task.problem} />
      {can && (
        <div class="actions">
          {reply === null ? <Button small kind="quiet" onClick={() => setReply("")}>Reply</Button> : <><Button small kind="main" busy={task.busy} disabled={!reply.trim()} onClick={send}>Reply</Button><Button small kind="quiet" onClick={() => setReply(null)}>Back</Button></>}
          <Button small kind="quiet" busy={task.busy} onClick={() => resolve(!t.resolved)}>{t.resolved ? "Open again" : "Resolve"}</Button>
        </div>
      )}
    </article>
  );
}

function Said({ by, at, text, children }: { by?: string; at: string; text: string; children?: any }) {
  return <div class="said-by"><div class="meta"><b>{by || "you"}</b> <Ago at={at} /> {children}</div><div class="pre">{text}</div></div>;
}

// NewComment is written on lines of a file. Drafts stay while the page is open.
const drafts = new Map<string, string>();

export function NewComment({ path, line, end, quote, onDone }: { path: string; line: number; end: number; quote: string; onDone: () => void }) {
  const { id, again } = useJob();
  const draft = `${id}/${path}:${line}`;
  const [text, set] = useState(drafts.get(draft) || "");
  const task = useTask();
  const put = (s: string) => {
    drafts.set(draft, s);
    set(s);
  };
  const send = () => task.run(async () => {
    if (!text.trim()) return;
    await act(id, "comments", { path, line, end, quote: quote.slice(0, 2000), text: text.trim() });
    drafts.delete(draft);
    again();
    onDone();
  });
  return (
    <div class="thread new" role="group" aria-label={`Comment on line ${line}`}>
      <Area label={`Comment on ${path}, ${line === end ? "line " + line : "lines " + line + " to " + end}`} autofocus rows={2} value={text} onText={put} onSend={send} placeholder="What about it?" onKeyDown={(e: KeyboardEvent) => e.key === "Escape" && onDone()} />
      <Trouble of={task.problem} />
      <div class="actions"><Button small kind="main" busy={task.busy} disabled={!text.trim()} onClick={send}>Comment</Button><Button small kind="quiet" onClick={onDone}>Back</Button><span class="muted small">goes to the agent when you request changes</span></div>
    </div>
  );
}
