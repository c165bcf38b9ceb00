// todos.yaml as the page writes it. Every text is quoted as JSON is, which YAML
// reads as it stands.

import type { Todo } from "./types";

export function todosYAML(phase: string, todos: Todo[]): string {
  let out = "";
  if (phase) out += "phase: " + JSON.stringify(phase) + "\n";
  out += todos.length ? "todos:\n" : "todos: []\n";
  for (const t of todos) {
    const id = /^\d{1,9}$/.test(t.id) ? t.id : JSON.stringify(t.id);
    out += "- id: " + id + "\n  content: " + JSON.stringify(t.text) + "\n";
    out += "  status: " + (t.skip ? "skipped" : t.done ? "completed" : "pending") + "\n";
    if (t.note) out += "  note: " + JSON.stringify(t.note) + "\n";
  }
  return out;
}

// freshID is one that no todo has.
export function freshID(todos: Todo[]): string {
  return String(Math.max(0, ...todos.map((t) => parseInt(t.id, 10) || 0)) + 1);
}
