// Questions that the plan asks. Unless a person says otherwise, their defaults
// hold.

import { useState } from "preact/hooks";
import { Button, Trouble, useFocus, useTask } from "../parts/basic";
import type { JobQuestion } from "../lib/types";
import { act, reviewing, useJob } from "./context";

export function Questions() {
  const { d } = useJob();
  const qs = d.job.questions || [];
  if (!qs.length) return null;
  return (
    <section class="questions" aria-label="Questions of the plan">
      {qs.map((q) => <One key={q.id} q={q} />)}
    </section>
  );
}

function One({ q }: { q: JobQuestion }) {
  const { id, d, again } = useJob();
  const [text, setText] = useState<string | null>(null);
  const task = useTask();
  const can = reviewing(d.job);
  const answer = (t: string) => task.run(async () => {
    await act(id, "answers", { question: q.id, text: t });
    setText(null);
    again();
  });
  return (
    <div class={"card question" + (q.answer ? " answered" : "")}>
      <div class="in">
        <p><b>{q.text}</b></p>
        {q.answer ? <p>Your answer: {q.answer}</p> : <p class="muted">{q.default ? <>Unless you say otherwise: <span class="strong">{q.default}</span></> : "It has no default: the agent decides."}</p>}
        {can && (text === null ? (
          <div class="actions">
            <Button small onClick={() => setText(q.answer || "")}>{q.answer ? "Change" : "Answer"}</Button>
            {q.answer && q.default && <Button small kind="quiet" busy={task.busy} onClick={() => answer("")}>Take the default</Button>}
          </div>
        ) : (
          <form class="actions" onSubmit={(e) => { e.preventDefault(); if (text.trim()) answer(text.trim()); }}>
            <Line label={"Answer to: " + q.text} value={text} onText={setText} />
            <Button small kind="main" type="submit" busy={task.busy} disabled={!text.trim()}>Save</Button>
            <Button small kind="quiet" onClick={() => setText(null)}>Back</Button>
          </form>
        ))}
        <Trouble of={task.problem} />
      </div>
    </div>
  );
}

function Line({ label, value, onText }: { label: string; value: string; onText: (s: string) => void }) {
  const ref = useFocus<HTMLInputElement>();
  return <input ref={ref} type="text" aria-label={label} value={value} onInput={(e: any) => onText(e.currentTarget.value)} />;
}
