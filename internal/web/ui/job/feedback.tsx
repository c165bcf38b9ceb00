// The box for feedback. What is written is kept on the server while it is being
// written, so that another tab and a restart find it.

import { useEffect, useRef } from "preact/hooks";
import { Problem } from "../lib/api";
import { firstLine, plural } from "../lib/format";
import { Area, Button, say, Trouble, useTask } from "../parts/basic";
import { act, openThreads, useJob } from "./context";
import { unsaved } from "./drafts";

export function FeedbackBox() {
  const { id, d, again, feedback, asking } = useJob();
  const j = d.job;
  const task = useTask();
  const open = openThreads(j);
  const saved = useRef<string | null>(null);
  const timer = useRef(0);

  useEffect(() => {
    if (saved.current === null) {
      saved.current = j.draft || "";
      if (!feedback.value && j.draft) feedback.value = j.draft;
    }
  }, []);
  // flush keeps what is written now; a page that goes away does not wait for it.
  const flush = () => {
    clearTimeout(timer.current);
    const text = feedback.peek();
    if (saved.current === null || saved.current === text) return;
    const before = saved.current;
    saved.current = text;
    act(id, "draft", { text }, true).catch(() => (saved.current = saved.current === text ? before : saved.current));
  };
  useEffect(() => {
    if (saved.current === null || saved.current === feedback.value) return;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(flush, 800);
  }, [feedback.value]);
  useEffect(() => {
    addEventListener("pagehide", flush);
    return () => {
      removeEventListener("pagehide", flush);
      flush(); // the box is closed
    };
  }, []);

  const send = () => task.run(async () => {
    clearTimeout(timer.current);
    const before = saved.current;
    saved.current = feedback.value; // the box may close before the answer is there: it is no draft any more
    try {
      await act(id, "review", { choice: "change", text: feedback.value.trim(), revision: j.review!.revision, gate: j.review!.gate });
    } catch (e) {
      saved.current = before;
      throw e;
    }
    saved.current = "";
    feedback.value = "";
    asking.value = false;
    say("Sent. The plan is being revised.");
    again();
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409;
  const mine = unsaved(id);
  const nothing = !feedback.value.trim() && open.length === 0;
  return (
    <section class="feedback card" aria-label="Request changes">
      <div class="in">
        <Area label="Feedback" autofocus value={feedback.value} onText={(s: string) => (feedback.value = s)} onSend={send} placeholder="What is to be different? The companion can help you word it." rows={4} />
        {open.length > 0 && (
          <div class="goes-along">
            <p class="muted">{plural(open.length, "open comment")} will go along:</p>
            <ul class="plain">{open.map((t) => <li key={t.id}><span class="mono">{t.path}{t.line ? ":" + t.line : ""}</span> {firstLine(t.text, 100)}</li>)}</ul>
          </div>
        )}
        {mine.length > 0 && <p class="note">Your changes of {mine.map((m) => m.path).join(" and ")} are not saved: save them first, or the agent will not see them.</p>}
        {stale ? <p class="trouble" role="alert">The plan has changed since you looked at it. What you wrote is kept; look at the plan and send it again.</p> : <Trouble of={task.problem} />}
        <div class="actions">
          <Button kind="main" busy={task.busy} disabled={nothing} onClick={send}>Send and have it revised</Button>
          <Button kind="quiet" onClick={() => (asking.value = false)}>Close</Button>
          <span class="muted small">what you write is kept</span>
        </div>
      </div>
    </section>
  );
}
