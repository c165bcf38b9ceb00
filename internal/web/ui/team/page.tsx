// The page of a team: who is in it and what they do, how far the work is, what they
// write to one another, and what they make.

import { useMemo, useState } from "preact/hooks";
import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { between, left, spent } from "../lib/format";
import { useKeys } from "../lib/keys";
import { go, place, to } from "../lib/route";
import { useTitle } from "../lib/title";
import { Badge, Button, Dialog, Html, Loading, say, Tabs, Trouble, useTask } from "../parts/basic";
import { GateCard } from "../parts/gate";
import { Stopped } from "../parts/stopped";
import { Audit } from "../pages/audit";
import { Board } from "./board";
import { act, type Ctx, TeamCtx, useTeam } from "./context";
import { Feed } from "./feed";
import { Deliverables, ReadFile, TeamFiles } from "./files";
import { Composer, Letters } from "./mail";
import { Banners, Phases } from "./members";
import { made, type TeamData } from "./types";

const tabs = [{ id: "feed", name: "Feed" }, { id: "board", name: "Dashboard" }, { id: "mail", name: "Messages" }, { id: "files", name: "Files" }, { id: "log", name: "Log" }];

export function TeamPage({ id, tab }: { id: string; tab: string }) {
  const data = useData<TeamData>("/api/teams/" + seg(id), id, "home"); // home tells when a driver is gone
  const [writing, setWriting] = useState("");
  const [reading, setReading] = useState<{ path: string; member: string } | null>(null);
  const d = data.value.value;
  useTitle(d?.title || "Team");
  const at = tab || "feed";
  const picked = place.value.q.get("member") || "";
  const pick = (t: string, q = "") => go(to.team(id, t, q), true);
  const ctx = useMemo<Ctx>(() => ({
    id, d: d!, again: data.again, tab: pick, write: (who) => { setWriting(""); setTimeout(() => setWriting(who)); },
    read: (path, member = "") => setReading({ path, member: d!.team.members.find((m) => m.agent === member)?.unmerged ? member : "" }),
  }), [d]);
  useKeys(tabs.map((t, i) => ({ key: String(i + 1), what: "tab " + t.name, do: () => pick(t.id) })), [id]);
  if (!d) return <div class="page"><Loading of={data} what="Opening the team" /></div>;
  const notes: Record<string, number> = { mail: d.mails, board: d.tasks.filter((t) => t.state === "open").length };
  const only = (who: string) => pick(at === "mail" ? "mail" : "feed", query({ member: who }));
  return (
    <TeamCtx.Provider value={ctx}>
      <div class="team-page">
        <section class="team-main" aria-label="Team">
          <Head />
          <p class="small to-made"><a href="#made" onClick={(e: any) => { e.preventDefault(); document.getElementById("made")?.scrollIntoView(); }}>Deliverables ({made(d).count})</a></p>
          <Phases />
          <Banners picked={picked} onPick={only} />
          {d.stopped && <Stopped flow={id} again={data.again} />}
          {d.gates.map((g) => <GateCard key={g.gate + g.revision} g={g} flow={id} />)}
          {d.team.ended && <Outcome />}
          <Tabs label="Parts of the team" at={at} onPick={(t) => pick(t)} tabs={tabs.map((t) => ({ ...t, note: notes[t.id] || undefined }))} />
          <div class={"team-tab " + at} role="tabpanel" aria-labelledby={"tab-" + at}>
            {picked && (at === "feed" || at === "mail") && <p class="small only">Only {picked}. <button type="button" class="link" onClick={() => only("")}>Show everybody</button></p>}
            {at === "feed" && <Feed key={picked} member={picked} />}
            {at === "board" && <Board />}
            {at === "mail" && <Letters key={picked} member={picked} />}
            {at === "files" && <TeamFiles />}
            {at === "log" && <Audit flow={id} inJob />}
          </div>
          {!d.over && <Composer to={writing} onTo={setWriting} />}
        </section>
        <Deliverables />
      </div>
      {reading && <ReadFile {...reading} onClose={() => setReading(null)} />}
    </TeamCtx.Provider>
  );
}

const tones: Record<string, string> = { running: "blue", success: "green", error: "red", timeout: "amber", cancelled: "gray" };

function Head() {
  const { id, d } = useTeam();
  const [ask, setAsk] = useState<"stop" | "wrap-up" | "rename" | "">("");
  const t = d.team;
  return (
    <header class="team-head">
      <h1>{d.title}</h1>
      <span role="status"><Badge of={d.state} tone={d.stopped ? "red" : tones[d.state]} /></span>
      <span class="muted small">{t.started.name} · {spent(d.cost)} · {between(t.begun, t.over)}{t.deadline && !d.over && !d.stopped && " · " + left(t.deadline)}</span>
      <span class="grow" />
      <Button small kind="quiet" onClick={() => setAsk("rename")}>Rename</Button>
      {!d.over && <><Button small onClick={() => setAsk("wrap-up")}>Wrap up</Button><Button small kind="danger" onClick={() => setAsk("stop")}>Stop team</Button></>}
      {ask === "rename" ? <Rename onClose={() => setAsk("")} /> : ask && <Sure what={ask} id={id} onClose={() => setAsk("")} />}
    </header>
  );
}

const sure = {
  stop: { title: "Stop the team", text: "Everybody stops now, and the team is over. What was committed stays.", yes: "Stop the team", said: "The team is stopped", path: "cancel" },
  "wrap-up": { title: "Wrap up", text: "The leader is told to come to an end: to merge what is done and to finish.", yes: "Tell the leader", said: "The leader is told", path: "wrap-up" },
};

function Sure({ what, id, onClose }: { what: keyof typeof sure; id: string; onClose: () => void }) {
  const { again } = useTeam();
  const task = useTask();
  const w = sure[what];
  return (
    <Dialog title={w.title} onClose={onClose}>
      <p>{w.text}</p>
      <Trouble of={task.problem} />
      <div class="actions">
        <Button kind="main" class={what === "stop" ? "danger" : ""} busy={task.busy} onClick={() => task.run(async () => { await act(id, w.path); say(w.said); again(); onClose(); })}>{w.yes}</Button>
        <Button kind="quiet" onClick={onClose}>Back</Button>
      </div>
    </Dialog>
  );
}

function Rename({ onClose }: { onClose: () => void }) {
  const { id, d, again } = useTeam();
  const [text, setText] = useState(d.title);
  const task = useTask();
  return (
    <Dialog title="Rename the team" onClose={onClose}>
      <form onSubmit={(e) => { e.preventDefault(); task.run(async () => { await act(id, "rename", { title: text.trim() }); again(); onClose(); }); }}>
        <input type="text" aria-label="Title" value={text} onInput={(e: any) => setText(e.currentTarget.value)} />
        <Trouble of={task.problem} />
        <div class="actions"><Button kind="main" type="submit" busy={task.busy} disabled={!text.trim()}>Rename</Button><Button kind="quiet" onClick={onClose}>Back</Button></div>
      </form>
    </Dialog>
  );
}

function Outcome() {
  const { d } = useTeam();
  const e = d.team.ended!;
  return (
    <details class={"card outcome" + (e.status === "success" ? "" : " bad")} open aria-label="Result">
      <summary><Badge of={d.state} tone={tones[d.state]} /><b>What it came to</b></summary>
      <div class="in">{d.outcome_html ? <Html html={d.outcome_html} /> : <p class="muted">Nothing was said at its end.</p>}</div>
    </details>
  );
}
