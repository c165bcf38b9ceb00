// The shapes the server speaks, as far as the pages look at them. They are the
// folds of internal/view and the lists of internal/control, as JSON.

export interface Content { text?: string; blob?: string; size?: number; html?: string }
export interface Usage { input?: number; cached?: number; output?: number; reasoning?: number; cost?: number }
export interface Estimate { tokens?: number; cost?: number; basis?: string }
export interface Choice { id: string; text?: string }

export interface Gate {
  gate: string; kind: string; title?: string; text?: Content; choices: Choice[];
  revision: number; default?: string; wait?: string; ref?: string; since: string; held?: boolean;
}

export interface Todo { id: string; text: string; skip?: boolean; done?: boolean; note?: string }
export interface JobTodo extends Todo { at?: string; commit?: string; usage?: Usage }

export interface JobPhase {
  phase: number; iteration: number; kind: string; purpose: string; name?: string; todos?: JobTodo[];
  began: string; ended?: string; how?: string; why?: string; commit?: string; tag?: string;
  calls: number; usage?: Usage; run?: string; approved?: Todo[];
}
export interface JobRound {
  round: number; phase: number; revision: number; commit: string; at: string; since?: string; same?: boolean;
  reason?: string; choice?: string; by?: string; feedback?: string; decided?: string; comments?: string[];
  edits?: string[]; late?: boolean;
}
export interface Addressed { comment: string; changed?: boolean; text: string }
export interface JobThread {
  id: string; at: string; path?: string; line?: number; end?: number; quote?: string; text: string; by?: string;
  commit?: string; round: number; replies?: { at: string; text: string; by?: string }[];
  resolved?: boolean; sent?: boolean; answer?: Addressed;
}
export interface JobQuestion { id: string; text: string; default?: string; answer?: string; by?: string }
export interface KeptFile { path: string; hash: string; size: number; lines?: number }
export interface JobCommit { commit: string; at: string; tag?: string; what: string; by?: string; ref: string }
export interface JobEnded { status: string; why?: string; summary?: string; deliverables?: string[]; confidence?: number; notes?: string }

export interface Job {
  seq: number; id: string; state: string; why?: string; begun?: string; last?: string;
  started: {
    title?: string; description: Content; instructions?: Content; companion?: string; parent?: string; dir?: string;
    documents?: { path: string; size: number }[];
    sources?: { name: string; kind: string; where?: string; write?: boolean }[];
    rules?: { review?: string; execute?: string; budget?: { cost?: number; tokens?: number } };
    seat?: { agent?: string; model?: string };
  };
  phases?: JobPhase[]; staged?: Todo[]; staged_name?: string; problem?: string;
  gates?: Gate[]; review?: Gate; skipped?: boolean;
  commit?: string; files?: KeptFile[]; tools?: string[]; commits?: JobCommit[];
  rounds?: JobRound[]; threads?: JobThread[]; questions?: JobQuestion[]; draft?: string;
  ended?: JobEnded; doing?: string; going?: string;
  calls: number; tool_uses: number; usage?: Usage; unpriced?: number; worked?: string; estimate?: Estimate;
  mutations?: { seq: number; at: string; source: string; statement: string; counters?: Record<string, number> }[];
  refusals?: Refusal[];
}
export interface Refusal { ref: string; text?: Content; code: string; why: string; at: string }

export interface JobFile { path: string; size: number; hash?: string; dir?: boolean; edit?: boolean; commit?: string }
export interface Commit { hash: string; at: string; author: string; subject: string; tags?: string[] }
export interface Mark { from: number; to: number }
export interface DiffLine { op: string; text: string; marks?: Mark[] }
export interface Hunk { old: number; new: number; lines: DiffLine[] }
export interface FileDiff { path: string; old?: string; kind: string; binary?: boolean; hunks?: Hunk[]; more?: boolean }
export interface Tier { name: string; on: boolean; why: string; tools: string[]; forced?: boolean }
export interface AuditRow {
  flow: string; seq: number; at: string; kind: string; group: string; agent?: string; title: string;
  preview?: string; tokens?: number; cost?: number; tool?: string; error?: boolean;
}
