// The box for feedback. What is written is kept on the server while it is being
// written, so that another tab and a restart find it.

import { useEffect, useRef } from "preact/hooks";
import { Problem } from "../lib/api";
import { firstLine, plural } from "../lib/format";
import { Area, Button, say, Trouble, useTask } from "../parts/basic";
import { act, openThreads, useJob } from "./context";

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
  useEffect(() => {
    if (saved.current === null || saved.current === feedback.value) return;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      saved.current = feedback.value;
      act(id, "draft", { text: feedback.value }).catch(() => (saved.current = ""));
    }, 800);
    return () => clearTimeout(timer.current);
  }, [feedback.value]);

  const send = () => task.run(async () => {
    clearTimeout(timer.current);
    await act(id, "review", { choice: "change", text: feedback.value.trim(), revision: j.review!.revision, gate: j.review!.gate });
    saved.current = "";
    feedback.value = "";
    asking.value = false;
    say("Sent. The plan is being revised.");
    again();
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409;
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
