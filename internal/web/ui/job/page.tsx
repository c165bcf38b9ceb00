// The page of a job: its plan to be looked at, its progress, its result, and a
// companion beside it who can look into everything.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { seg } from "../lib/api";
import { useData } from "../lib/data";
import { useKeys } from "../lib/keys";
import { go, to } from "../lib/route";
import { useTitle } from "../lib/title";
import { Ago, Badge, Loading, Tabs } from "../parts/basic";
import { Abilities, Chat, useSession } from "../parts/chat";
import { GateCard } from "../parts/gate";
import { Stopped, stoppedWords } from "../parts/stopped";
import { Audit } from "../pages/audit";
import { ReviewBar } from "./bar";
import { type Ctx, type JobData, JobCtx, openThreads, reviewing } from "./context";
import { Doc } from "./doc";
import { mute, unsaved } from "./drafts";
import { FeedbackBox } from "./feedback";
import { Files } from "./files";
import { History } from "./history";
import { Progress } from "./progress";
import { Questions } from "./questions";
import { Todos } from "./todos";
import { Changed } from "./changed";

const hints: Record<string, string[]> = {
  review: ["What does the plan leave out?", "Why this approach?", "What is the riskiest assumption?", "Help me word feedback"],
  planning: ["How is it going?", "What has it read so far?"],
  running: ["How is it going?", "What phase is it on?", "What has it cost so far?"],
  trouble: ["What went wrong?", "What should I say to get it going?"],
  completed: ["Summarize what was produced", "What changed since the plan I approved?", "What did it cost?"],
  failed: ["Why did it fail?", "What did it cost?"],
  cancelled: ["How far did it get?", "What did it cost?"],
};

export function JobPage({ id, tab }: { id: string; tab: string }) {
  const data = useData<JobData>("/api/jobs/" + seg(id), id, "home"); // home tells when a driver is gone
  const feedback = useSignal("");
  const asking = useSignal(false);
  const diffing = useSignal(false);
  const d = data.value.value;
  useTitle(d?.title || "Job");

  const pick = (t: string, q = "") => go(to.job(id, t, q), true);
  const ctx = useMemo<Ctx>(() => ({ id, d: d!, again: data.again, tab: pick, feedback, asking, diffing }), [d]);
  const at = tab || (d?.job.state === "review" ? "plan" : "progress");

  const tabs = d?.job.review ? reviewTabs : workTabs;
  useKeys(tabs.map((t, i) => ({ key: String(i + 1), what: "tab " + t.name, do: () => pick(t.id) })), [tabs]);
  useEffect(() => {
    diffing.value = false;
  }, [d?.job.rounds?.length]);

  const quiet = !!d && !reviewing(d.job); // nothing can be saved now
  useEffect(() => mute(id, quiet), [quiet]);

  if (!d) return <div class="page"><Loading of={data} what="Opening the job" /></div>;
  const j = d.job;
  const notes: Record<string, number> = { plan: commentsOn(d, "plan.md"), memory: commentsOn(d, "workspace.md"), todos: reviewing(j) ? (j.staged || []).length : 0 };
  const mine = quiet ? [] : unsaved(id).map((x) => x.path);
  return (
    <JobCtx.Provider value={ctx}>
      <div class="job-page">
        <section class="job-main" aria-label="Job">
          <header class="job-head">
            <h1>{d.title}</h1>
            {d.stopped ? <Badge tone="red">{stoppedWords}</Badge> : <Badge of={j.state}>{stateWords[j.state] || j.state}</Badge>}
            <Ago at={j.last} />
          </header>
          {d.stopped && <Stopped flow={id} again={data.again} />}
          {!d.stopped && (j.doing || (j.why && !j.review && !j.ended)) && <p class="job-doing" role="status">{live(j.state) && <span class="spin" aria-hidden="true" />} {j.doing || j.why}</p>}
          {j.going && <p><a href={to.run(j.going)}>the run that is at work</a></p>}
          {(j.gates || []).filter((g) => g.gate !== j.review?.gate).map((g) => <GateCard key={g.gate + g.revision} g={{ ...g, text: g.text?.text, flow: id }} flow={id} />)}
          {j.review && <ReviewBar />}
          {j.review && asking.value && <FeedbackBox />}
          <Tabs label="Parts of the job" tabs={tabs.map((t) => ({ ...t, note: mine.includes(fileOf[t.id]) ? "unsaved" : notes[t.id] || undefined }))} at={at} onPick={(t) => pick(t)} />
          <div class="job-tab" role="tabpanel" aria-labelledby={"tab-" + at}>
            {at === "progress" && <Progress />}
            {at === "plan" && (diffing.value && reviewing(j) ? <Changed /> : <><Questions /><Doc path="plan.md" key="plan.md" missing="The plan is not written yet." /></>)}
            {at === "todos" && <Todos />}
            {at === "memory" && <Doc path="workspace.md" key="workspace.md" missing="Nothing is written yet." />}
            {at === "files" && <Files />}
            {at === "history" && <History />}
            {at === "why" && <Audit flow={id} inJob />}
          </div>
        </section>
        <Companion d={d} ctx={ctx} />
      </div>
    </JobCtx.Provider>
  );
}

const reviewTabs = [
  { id: "plan", name: "Plan" }, { id: "todos", name: "Todos" }, { id: "memory", name: "Memory" }, { id: "files", name: "Files" },
  { id: "history", name: "History" }, { id: "why", name: "Why" }, { id: "progress", name: "Progress" },
];
const workTabs = [...reviewTabs.slice(-1), ...reviewTabs.slice(0, -1)]; // what is looked at first comes first
const fileOf: Record<string, string> = { plan: "plan.md", memory: "workspace.md", todos: "todos.yaml" };
const stateWords: Record<string, string> = { review: "waits for your review", trouble: "needs help", created: "starting" };
const live = (s: string) => s === "planning" || s === "running" || s === "created";
const commentsOn = (d: JobData, path: string) => openThreads(d.job).filter((t) => t.path === path).length;

function Companion({ d, ctx }: { d: JobData; ctx: Ctx }) {
  const id = d.companion || d.job.started.companion || "";
  const session = useSession(id);
  const j = d.job;
  return (
    <aside class="side" aria-label="Companion">
      <header><h2>Companion</h2><span class="muted small">looks into everything, changes nothing</span></header>
      {id && <Abilities job={ctx.id} session={id} />}
      {id ? (
        <Chat id={id} data={session} hints={hints[j.state] || []} placeholder="Ask about the job" uses={{
          job: ctx.id, canEdit: reviewing(j),
          onFeedback: j.review || d.over ? (t) => {
            ctx.feedback.value = ctx.feedback.value ? ctx.feedback.value.trimEnd() + "\n\n" + t : t;
            ctx.asking.value = true;
            if (d.over) ctx.tab("progress");
          } : undefined,
        }} />
      ) : <p class="empty">This job has no companion.</p>}
    </aside>
  );
}
