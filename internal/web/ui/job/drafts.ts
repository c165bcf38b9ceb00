// Changes of files that a person has made and not saved. They stay while the tab is
// open, whatever part of the job is shown, and nobody leaves without being asked.

import { signal } from "@preact/signals";
import type { Todo } from "../lib/types";
import { act } from "./context";

export interface Draft {
  job: string; path: string;
  base: string; was: string; // what it was made of
  text: string;
  todos?: Todo[]; // of todos.yaml, which is edited as a list
  saved?: boolean; // and not heard of again yet
}

const all = signal<Draft[]>([]);
const is = (job: string, path: string) => (d: Draft) => d.job === job && d.path === path;

export const draftOf = (job: string, path: string): Draft | undefined => all.value.find(is(job, path));
export const unsaved = (job: string): Draft[] => all.value.filter((d) => d.job === job && !d.saved);

export function putDraft(d: Draft) {
  all.value = [...all.value.filter((x) => !is(d.job, d.path)(x)), d];
}
export function dropDraft(job: string, path: string) {
  if (draftOf(job, path)) all.value = all.value.filter((x) => !is(job, path)(x));
}
export function dropDrafts(job: string) {
  if (all.peek().some((d) => d.job === job)) all.value = all.peek().filter((d) => d.job !== job);
}

// saveDrafts makes a revision of each.
export async function saveDrafts(job: string) {
  for (const d of unsaved(job)) {
    await act(job, "edits", { path: d.path, base: d.base, text: d.text });
    if (d.todos) putDraft({ ...d, saved: true });
    else dropDraft(job, d.path);
  }
}

// mute has nobody be asked about a job whose files cannot be changed now. What was
// written is there again in the next round.
const muted = new Set<string>();
export function mute(job: string, on: boolean) {
  if (on) muted.add(job);
  else muted.delete(job);
}

addEventListener("beforeunload", (e) => {
  if (all.peek().some((d) => !d.saved && !muted.has(d.job))) e.preventDefault();
});
