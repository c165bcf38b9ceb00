// What every part of a team's page needs.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { key, post, seg } from "../lib/api";
import type { Member, TeamData } from "./types";

export interface Ctx {
  id: string;
  d: TeamData;
  again: () => void;
  tab: (tab: string, q?: string) => void;
  // write opens the composer for somebody; read shows a file.
  write: (to: string) => void;
  read: (path: string, member?: string) => void;
}

export const TeamCtx = createContext<Ctx>(null as any);
export const useTeam = () => useContext(TeamCtx);

export const memberOf = (d: TeamData, agent?: string): Member | undefined => d.team.members.find((m) => m.agent === agent);
export const leaderOf = (d: TeamData): string => d.team.members.find((m) => m.leader)?.agent || d.team.started.leader.name;

export const act = (id: string, what: string, body: Record<string, unknown> = {}, click = key()) => post(`/api/teams/${seg(id)}/${what}`, { ...body, key: click });
