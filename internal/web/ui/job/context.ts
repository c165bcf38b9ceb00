// What the parts of a job's page have in common.

import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { key, post, seg } from "../lib/api";
import type { Job, JobRound, JobThread } from "../lib/types";

export interface JobData {
  job: Job; title: string; state: string; frozen: boolean; over: boolean; description?: string; description_html?: string;
  instructions?: string; instructions_html?: string; review_html?: string; outcome_html?: string; companion?: string;
  driver?: { pid: number }; stopped?: boolean; cost?: { usd: number; tokens: number; calls: number; text: string; left?: string; unpriced?: number };
}

export interface Ctx {
  id: string;
  d: JobData;
  again: () => void;
  tab: (id: string, q?: string) => void;
  feedback: Signal<string>;
  asking: Signal<boolean>; // the box for feedback is open
  diffing: Signal<boolean>; // what has changed is shown
}

export const JobCtx = createContext<Ctx>(null as any);
export const useJob = () => useContext(JobCtx);

export const act = (id: string, what: string, body: Record<string, unknown>, last = false) => post(`/api/jobs/${seg(id)}/${what}`, { ...body, key: key() }, last);

export const reviewing = (j: Job) => j.state === "review" && !!j.review;
export const round = (j: Job): JobRound | undefined => j.rounds?.[j.rounds.length - 1];

// openThreads are the comments that nobody has dealt with: neither the agent has
// said how, nor a person that nothing more is needed. They go along with feedback.
export const openThreads = (j: Job): JobThread[] => (j.threads || []).filter((t) => !t.resolved && !t.answer);

// fate says how the agent dealt with a comment: there is nothing to say
// before it was sent.
export function fate(t: JobThread, j: Job): "open" | "changed" | "kept" | "unaddressed" | "sent" {
  if (t.answer) return t.answer.changed ? "changed" : "kept";
  if (!t.sent) return "open";
  return j.state === "planning" ? "sent" : "unaddressed";
}
