// The shapes of teams, and words for them.

import type { GateData } from "../parts/gate";
import type { Content, Usage } from "../lib/types";

export interface TurnNo { round: number; take: number }
export interface Role { name: string; title?: string; avatar?: string; about?: string; seat?: { agent?: string; model?: string; backend?: string }; most?: number }
export interface Member {
  agent: string; role: string; title?: string; avatar: string; leader?: boolean; state: string; doing?: string; since?: string;
  waits?: string[]; all?: boolean; backend: string; model?: string; turn?: TurnNo; turns: number; queued?: number; usage?: Usage;
  lost?: string; stopped?: boolean; dir?: string; commit?: string; unmerged?: boolean; restarts?: number;
}
export interface Task {
  task: string; title: string; owner: string; state: string; stalled?: boolean; files?: string[]; began: string; ended?: string;
  detail_html?: string; summary_html?: string;
}
export interface Phase { name: string; state: string; members?: string[]; tasks: number; done: number }
export interface Fate { to: string; state: string; turn?: TurnNo; at?: string; why?: string }
export interface Mail {
  id: string; seq: number; at: string; kind: string; from?: string; by?: string; to: string[]; text: Content; task?: string; state?: string;
  files?: string[]; fates: Fate[]; html: string; cut?: boolean; mine?: boolean;
}
export interface Change { path: string; kind: string }
export interface Merge { at: string; member: string; commit?: string; changes?: Change[]; total: number; conflicts?: string[]; prefer?: string }
export interface Ended { status: string; stopped_by?: string; why?: string; deliverables?: string[] }

export interface TeamData {
  team: {
    seq: number; id: string; title: string; begun?: string; last?: string; worked?: string; deadline?: string; over?: string;
    started: { name: string; leader: Role; roles: Role[]; source?: string; dir: string; file?: string; rules?: { max_members?: number; time?: string; turn?: string; budget?: { cost?: number } } };
    members: Member[]; phases?: Phase[]; merges?: Merge[]; commit?: string; files?: Change[]; ended?: Ended; turns: number; calls: number; tool_uses: number;
    refusals?: { ref: string; why: string; at: string; text?: Content }[];
  };
  title: string; state: string; over: boolean; task: string; task_html: string; outcome_html?: string; tasks: Task[]; yours: Mail[]; mails: number;
  driver?: { pid: number }; stopped?: boolean; cost: { usd?: number; tokens: number; text: string; calls: number }; gates: GateData[];
}

export interface ToolUse { seq: number; name: string; kind: string; what?: string; state: string; result?: string }
export interface FeedItem {
  index: number; seq: number; at: string; ended?: string; agent?: string; kind: string; title: string; html?: string; text?: string; cut?: boolean;
  turn?: TurnNo; tools?: ToolUse[]; more?: number; mail?: Mail; merge?: Merge; error?: boolean;
}
export interface FeedPage { items: FeedItem[]; total: number; before?: number }

// and joins names as people do.
export function and(list: string[]): string {
  return list.length < 2 ? list.join("") : list.slice(0, -1).join(", ") + " and " + list[list.length - 1];
}

// stands is what a member does, in a line.
export function stands(m: Member, over = false): string {
  if (over && m.state !== "lost") return m.turns ? "took " + (m.turns === 1 ? "one turn" : m.turns + " turns") : "had nothing to do";
  switch (m.state) {
    case "lost": return m.lost || "lost";
    case "waiting": return m.waits?.length ? "waits for " + (m.all && m.waits.length > 1 ? "all of " : "") + and(m.waits) : m.doing || "waits for anybody";
    case "asking": return m.doing || "asks you";
    case "resting": return m.doing || "its provider wants a pause";
    case "working": return m.doing || "at work";
  }
  return m.doing || (m.turns ? "has nothing to do" : "has not begun");
}

// made is what the team has made: what it has named as its result, and the rest.
// Unless something is named, everything that is there counts.
export function made(d: TeamData): { named: string[]; rest: Change[]; count: number } {
  const named = d.team.ended?.deliverables || [];
  const rest = (d.team.files || []).filter((f) => !named.includes(f.path));
  return { named, rest, count: named.length || rest.filter((f) => f.kind !== "deleted").length };
}

const fates: Record<string, string> = { waiting: "on its way", queued: "queued", delivered: "delivered", withdrawn: "taken back", refused: "refused", undeliverable: "not delivered" };
export const fateTone: Record<string, string> = { waiting: "gray", queued: "amber", delivered: "green", withdrawn: "gray", refused: "red", undeliverable: "red" };
export function fateWords(f: Fate): string {
  const turn = f.state === "delivered" && f.turn?.round ? " in turn " + f.turn.round : "";
  return (fates[f.state] || f.state) + turn + (f.why ? ": " + f.why : "");
}

// hue is the colour somebody is known by.
export function hue(name: string): number {
  let h = 7;
  for (const c of name) h = (h * 31 + c.codePointAt(0)!) % 360;
  return h;
}
