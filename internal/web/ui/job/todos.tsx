// The todos of the next phase, to be edited, reordered and unticked; and those of
// the phases there were.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../lib/api";
import { freshID, todosYAML } from "../lib/todos";
import type { Todo } from "../lib/types";
import { Badge, Button, Empty, say, Trouble, useTask } from "../parts/basic";
import { act, reviewing, useJob } from "./context";
import { draftOf, dropDraft, putDraft } from "./drafts";
import { Conflict } from "./editor";
import { PhaseList } from "./progress";

export function Todos() {
  const { d } = useJob();
  const j = d.job;
  if (reviewing(j)) return <><EditTodos /><Past /></>;
  return (
    <div>
      {(j.staged || []).length > 0 && j.state === "planning" && <><h2>Next: {j.staged_name}</h2><ol class="plain todos">{j.staged!.map((t) => <li key={t.id}><span class="tick" aria-hidden="true">○</span>{t.text}</li>)}</ol></>}
      <PhaseList />
    </div>
  );
}

function Past() {
  const { d } = useJob();
  if ((d.job.phases || []).length < 2) return null;
  return <details class="past"><summary>Phases so far</summary><PhaseList /></details>;
}

const file = "todos.yaml";

function EditTodos() {
  const { id, d, again } = useJob();
  const j = d.job;
  const kept = j.files?.find((f) => f.path === file);
  const base = kept?.hash || "";
  const mine = draftOf(id, file);
  const from = mine?.base ?? base;
  const todos = mine?.todos ?? (j.staged || []);
  const task = useTask();
  const dragged = useRef(-1);
  const [over, setOver] = useState(-1);
  const dirty = !!mine && !mine.saved;

  useEffect(() => {
    if (mine?.saved && base !== mine.base) dropDraft(id, file); // it is heard of
  }, [base, mine]);

  const setTodos = (f: (l: Todo[]) => Todo[]) => {
    const d = draftOf(id, file);
    const was = d?.was ?? JSON.stringify(j.staged || []);
    const list = f(d?.todos ?? (j.staged || []));
    if (JSON.stringify(list) === was) return dropDraft(id, file);
    const clean = list.map((t) => ({ ...t, text: t.text.trim() })).filter((t) => t.text);
    putDraft({ job: id, path: file, base: d?.base ?? base, was, todos: list, text: todosYAML(j.staged_name || "", clean) });
  };
  const change = (i: number, to: Partial<Todo>) => setTodos((l) => l.map((t, k) => (k === i ? { ...t, ...to } : t)));
  const move = (i: number, to: number) => {
    if (to < 0 || to >= todos.length || i === to) return;
    setTodos((l) => {
      const out = [...l];
      out.splice(to, 0, ...out.splice(i, 1));
      return out;
    });
    say(`Moved to place ${to + 1}`);
  };
  const reset = () => {
    dropDraft(id, file);
    task.clear();
  };
  const save = (onto: string) => task.run(async () => {
    const d = draftOf(id, file)!;
    await act(id, "edits", { path: file, base: onto, text: d.text });
    putDraft({ ...d, base, saved: true });
    say("Saved the todos");
    again();
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409 ? task.problem.body.current : null;
  if (!kept) return <Empty>No todos are staged.</Empty>;
  return (
    <section aria-label="Todos of the next phase">
      <div class="doc-head"><h2>{j.staged_name || "Next phase"}</h2><span class="muted">{todos.filter((t) => !t.skip).length} to be done</span>{base !== from && dirty && <Badge tone="amber">changed by somebody else</Badge>}</div>
      <ol class="plain todos edit">
        {todos.map((t, i) => (
          <li key={t.id} class={(over === i ? "over " : "") + (t.skip ? "skip" : "")}
            onDragOver={(e: any) => { e.preventDefault(); setOver(i); }} onDragLeave={() => setOver(-1)}
            onDrop={(e: any) => { e.preventDefault(); setOver(-1); move(dragged.current, i); }}>
            <span class="grip" aria-hidden="true" draggable onDragEnd={() => setOver(-1)} onDragStart={(e: any) => {
              dragged.current = i;
              e.dataTransfer.effectAllowed = "move";
              e.dataTransfer.setData("text/plain", t.text);
              e.dataTransfer.setDragImage(e.currentTarget.parentElement, 10, 10);
            }}>⋮⋮</span>
            <input type="checkbox" checked={!t.skip} onChange={(e: any) => change(i, { skip: !e.currentTarget.checked || undefined })} aria-label={"Do todo " + (i + 1)} title="Untick to leave it out" />
            <textarea rows={1} value={t.text} aria-label={"Todo " + (i + 1)} onInput={(e: any) => change(i, { text: e.currentTarget.value })} />
            <Button small kind="quiet" aria-label={"Move todo " + (i + 1) + " up"} disabled={i === 0} onClick={() => move(i, i - 1)}>↑</Button>
            <Button small kind="quiet" aria-label={"Move todo " + (i + 1) + " down"} disabled={i === todos.length - 1} onClick={() => move(i, i + 1)}>↓</Button>
            <Button small kind="quiet" aria-label={"Remove todo " + (i + 1)} onClick={() => setTodos((l) => l.filter((_, k) => k !== i))}>✕</Button>
          </li>
        ))}
      </ol>
      {stale ? <Conflict path={file} theirs={stale.text || ""} onTheirs={reset} onMine={() => stale.hash && save(stale.hash)} busy={task.busy} /> : <Trouble of={task.problem} />}
      <div class="actions">
        <Button small onClick={() => setTodos((l) => [...l, { id: freshID(l), text: "" }])}>Add a todo</Button>
        <span class="grow" />
        {dirty && <><Button kind="quiet" small onClick={reset}>Discard</Button><Button kind="main" small busy={task.busy} onClick={() => save(from)}>Save as a new revision</Button></>}
      </div>
    </section>
  );
}
