// The bar of a review: which revision it is about, what it has cost, and the
// decision.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../lib/api";
import { plural, spent } from "../lib/format";
import { useKeys } from "../lib/keys";
import { Button, Dialog, Html, say, Trouble, useTask } from "../parts/basic";
import { act, openThreads, reviewing, round, useJob } from "./context";
import { dropDrafts, saveDrafts, unsaved } from "./drafts";

type Ask = "approve" | "skip" | "cancel" | "retry" | "";

export function ReviewBar() {
  const { d, asking, diffing, tab } = useJob();
  const j = d.job;
  const g = j.review!;
  const r = round(j);
  const [ask, setAsk] = useState<Ask>("");
  const plan = reviewing(j);
  useKeys([
    { key: "a", what: plan ? "approve" : "go on", do: () => setAsk(plan ? "approve" : "retry") },
    { key: "r", what: "request changes", do: () => (asking.value = true) },
    { key: "d", what: "what changed since the last round", do: () => r?.since && (diffing.value = !diffing.value) },
  ], [plan, r?.since]);
  return (
    <section class={"bar" + (plan ? "" : " red")} aria-label="Review">
      <div class="bar-facts">
        {plan && r && <b>Round {r.round}</b>}
        <span title={"commit " + (j.commit || "")}>revision {g.revision}</span>
        {plan && r?.since && (
          <label class="toggle"><input type="checkbox" checked={diffing.value} onChange={(e: any) => { diffing.value = e.currentTarget.checked; tab("plan"); }} /> changed since last round</label>
        )}
        {d.cost && <span title={d.cost.tokens + " tokens in " + plural(d.cost.calls, "call")}>{spent(d.cost)} so far</span>}
        {d.cost?.left && <span class="muted" title={d.cost.left}>{d.cost.left.split(", from")[0]}</span>}
      </div>
      {(g.title || r?.reason) && <p class="bar-why">{g.title || r?.reason}</p>}
      {!plan && d.review_html && <Html html={d.review_html} />}
      {r?.same && plan && <p class="note">Nothing in the plan changed in this round. Say what is to be different in other words, edit the files yourself, or approve.</p>}
      {r?.late && plan && <p class="note">This is round {r.round}. It may be quicker to edit the plan yourself, or to let the job run and correct its result.</p>}
      {j.problem && <p class="trouble">todos.yaml cannot be read: {j.problem}</p>}
      <div class="bar-acts">
        {plan ? (
          <>
            <Button kind="main" onClick={() => setAsk("approve")}>Approve revision {g.revision}</Button>
            <Button onClick={() => (asking.value = !asking.value)} aria-expanded={asking.value}>Request changes{openThreads(j).length > 0 && <span class="count">{openThreads(j).length}</span>}</Button>
            <Button kind="quiet" onClick={() => setAsk("skip")}>Skip review and run</Button>
          </>
        ) : (
          <>
            <Button kind="main" onClick={() => setAsk("retry")}>Try again</Button>
            <Button onClick={() => (asking.value = !asking.value)} aria-expanded={asking.value}>Plan anew</Button>
          </>
        )}
        <span class="grow" />
        <Button kind="danger" onClick={() => setAsk("cancel")}>Cancel job</Button>
      </div>
      {ask && <Decide ask={ask} onClose={() => setAsk("")} />}
    </section>
  );
}

const words: Record<string, { title: string; text: string; yes: string }> = {
  approve: { title: "Approve the plan", text: "The job carries out this revision of the plan and its todos.", yes: "Approve" },
  skip: { title: "Skip review and run", text: "The job carries out the plan as it is, and does not stop for review again.", yes: "Run without review" },
  cancel: { title: "Cancel the job", text: "The job ends. Its files stay, and a correction can take it up again.", yes: "Cancel the job" },
  retry: { title: "Try again", text: "The job goes on, with as much again of what had run out.", yes: "Go on" },
};

// Decide asks once more. The revision is the one the person saw when the dialog
// opened: if the plan changes meanwhile the server refuses.
function Decide({ ask, onClose }: { ask: Exclude<Ask, "">; onClose: () => void }) {
  const { id, d, again } = useJob();
  const j = d.job;
  const seen = useRef({ revision: j.review?.revision || 0, gate: j.review?.gate }).current;
  const task = useTask();
  const w = words[ask];
  const open = openThreads(j);
  const unanswered = (j.questions || []).filter((q) => !q.answer);
  const moved = !j.review || j.review.gate !== seen.gate ? "decided" : j.review.revision !== seen.revision ? "changed" : "";
  const stale = task.problem instanceof Problem && task.problem.status === 409;
  const mine = ask === "approve" || ask === "skip" ? unsaved(id) : [];
  const yes = useRef<HTMLDivElement>(null);
  useEffect(() => {
    yes.current?.querySelector("button")?.focus();
  }, []);
  const decide = () => task.run(async () => {
    await act(id, "review", { choice: ask, revision: seen.revision, gate: seen.gate });
    say(w.title + ": done");
    again();
    onClose();
  });
  const save = () => task.run(async () => {
    await saveDrafts(id);
    say("Saved as a new revision. Look at it, and approve that one.");
    again();
    onClose();
  });
  if (mine.length > 0 && !moved)
    return (
      <Dialog title="Save your changes first" onClose={onClose}>
        <p>You have changed {mine.map((m) => m.path).join(" and ")} and not saved that. Revision {seen.revision} does not have it, and it would be lost.</p>
        {stale ? <p class="trouble" role="alert">Somebody else has changed the same file. Nothing was saved; look at both in its tab.</p> : <Trouble of={task.problem} />}
        <div class="actions" ref={yes}>
          <Button kind="main" busy={task.busy} onClick={save}>Save as a new revision</Button>
          <Button kind="danger" disabled={task.busy} onClick={() => dropDrafts(id)}>Throw my changes away</Button>
          <Button kind="quiet" onClick={onClose}>Back</Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={w.title} onClose={onClose}>
      <p>{w.text}</p>
      {(ask === "approve" || ask === "skip") && (
        <dl class="facts">
          <dt>Revision</dt><dd>{seen.revision}</dd>
          <dt>Todos</dt><dd>{(j.staged || []).filter((t) => !t.skip).length} to be done{(j.staged || []).some((t) => t.skip) ? ", " + j.staged!.filter((t) => t.skip).length + " unticked" : ""}</dd>
          {d.cost && <><dt>Cost</dt><dd>{spent(d.cost)} so far{d.cost.left ? "; " + d.cost.left : ""}</dd></>}
          {unanswered.length > 0 && <><dt>Questions</dt><dd>{plural(unanswered.length, "default answer")} will hold</dd></>}
        </dl>
      )}
      {ask === "approve" && open.length > 0 && (
        <div class="note">{plural(open.length, "comment is", "comments are")} open and will not reach the agent:
          <ul>{open.slice(0, 5).map((t) => <li key={t.id}>{t.text.slice(0, 120)}</li>)}</ul>
        </div>
      )}
      {moved === "changed" && <p class="note">The plan has changed while you were reading: it is at revision {j.review!.revision} now. Close this and look at it again.</p>}
      {moved === "decided" && <p class="note">Somebody has decided already.</p>}
      {stale ? <p class="trouble" role="alert">The plan is not at revision {seen.revision} any more. Nothing was decided; look at it again.</p> : <Trouble of={task.problem} />}
      <div class="actions" ref={yes}>
        <Button kind="main" class={ask === "cancel" ? "danger" : ""} busy={task.busy} disabled={!!moved} onClick={decide}>{w.yes}{ask === "approve" ? " revision " + seen.revision : ""}</Button>
        <Button kind="quiet" onClick={onClose}>Back</Button>
      </div>
    </Dialog>
  );
}
