// The todos of the next phase, to be edited, reordered and unticked; and those of
// the phases there were.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../lib/api";
import { freshID, todosYAML } from "../lib/todos";
import type { Todo } from "../lib/types";
import { Badge, Button, Empty, say, Trouble, useTask } from "../parts/basic";
import { act, reviewing, useJob } from "./context";
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

function EditTodos() {
  const { id, d, again } = useJob();
  const j = d.job;
  const kept = j.files?.find((f) => f.path === "todos.yaml");
  const base = kept?.hash || "";
  const [from, setFrom] = useState({ base, todos: j.staged || [], name: j.staged_name || "" });
  const [todos, setTodos] = useState<Todo[]>(j.staged || []);
  const task = useTask();
  const dragged = useRef(-1);
  const [over, setOver] = useState(-1);
  const dirty = JSON.stringify(todos) !== JSON.stringify(from.todos);

  useEffect(() => {
    if (base !== from.base && !dirty) {
      setFrom({ base, todos: j.staged || [], name: j.staged_name || "" });
      setTodos(j.staged || []);
    }
  }, [base, dirty]);

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
    setFrom({ base, todos: j.staged || [], name: j.staged_name || "" });
    setTodos(j.staged || []);
    task.clear();
  };
  const save = (onto: string) => task.run(async () => {
    const clean = todos.map((t) => ({ ...t, text: t.text.trim() })).filter((t) => t.text);
    await act(id, "edits", { path: "todos.yaml", base: onto, text: todosYAML(from.name, clean) });
    setFrom({ ...from, base: "saved", todos });
    say("Saved the todos");
    again();
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409 ? task.problem.body.current : null;
  if (!kept) return <Empty>No todos are staged.</Empty>;
  return (
    <section aria-label="Todos of the next phase">
      <div class="doc-head"><h2>{j.staged_name || "Next phase"}</h2><span class="muted">{todos.filter((t) => !t.skip).length} to be done</span>{base !== from.base && dirty && <Badge tone="amber">changed by somebody else</Badge>}</div>
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
      {stale ? <Conflict path="todos.yaml" theirs={stale.text || ""} onTheirs={reset} onMine={() => stale.hash && save(stale.hash)} busy={task.busy} /> : <Trouble of={task.problem} />}
      <div class="actions">
        <Button small onClick={() => setTodos((l) => [...l, { id: freshID(l), text: "" }])}>Add a todo</Button>
        <span class="grow" />
        {dirty && <><Button kind="quiet" small onClick={reset}>Discard</Button><Button kind="main" small busy={task.busy} onClick={() => save(from.base)}>Save as a new revision</Button></>}
      </div>
    </section>
  );
}
