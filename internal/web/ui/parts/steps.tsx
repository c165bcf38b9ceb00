// What an agent did in a turn: words, tools as small cards, runs, proposals.

import { useState } from "preact/hooks";
import { key, post, Problem, seg } from "../lib/api";
import { firstLine, short } from "../lib/format";
import { to } from "../lib/route";
import { Badge, Button, Html, say, Trouble, useTask } from "./basic";
import { Diff, type FileDiff } from "./diff";
import type { ChatUses, SessionData } from "./chat";

export interface StepCard { kind: string; text?: string; path?: string; why?: string; base?: string; new?: string; diff?: { files: FileDiff[] }; gone?: boolean; title?: string; description?: string; instructions?: string; proposal: string }
export interface Step {
  id: string; at: string; kind: string; text?: string; html?: string; thinking?: string; by?: string; tool?: string; call?: string;
  input?: string; result?: string; cut?: boolean; done?: boolean; error?: boolean; want?: string; run?: string; card?: StepCard; published?: any;
}

export function StepView({ s, session, uses }: { s: Step; session: SessionData; uses: ChatUses }) {
  switch (s.kind) {
    case "text":
      return (
        <>
          {s.thinking && <details class="step thinking"><summary>thought</summary><pre class="plaintext">{s.thinking}</pre></details>}
          {(s.html || s.text) && <div class="bubble agent">{s.html ? <Html html={s.html} /> : s.text}</div>}
        </>
      );
    case "said":
      return <div class="bubble you">{s.html ? <Html html={s.html} /> : s.text}</div>;
    case "tool":
      return s.card ? <Proposal s={s} c={s.card} session={session} uses={uses} /> : <ToolCard s={s} job={uses.job} />;
    case "outlined":
      return null; // the card that suggested it is enough
    case "run":
      return <RunStep s={s} />;
    default:
      return <div class={"step note-line" + (s.error ? " error" : "")}>{s.text || s.kind}</div>;
  }
}

function ToolCard({ s, job }: { s: Step; job?: string }) {
  const [what, link] = toolWords(s, job);
  return (
    <details class={"step tool" + (s.error ? " error" : "")}>
      <summary>
        {!s.done ? <span class="spin" aria-hidden="true" /> : <span aria-hidden="true">{s.error ? "✕" : "✓"}</span>}
        <span class="what">{what}</span>{link && <a href={link}>open</a>}
      </summary>
      {s.input && s.input !== "{}" && <pre class="plaintext">{s.input}</pre>}
      {s.result && <pre class="plaintext result">{s.result}{s.cut ? "\n…" : ""}</pre>}
    </details>
  );
}

// texts are what a call was made with, whatever a model has written there.
function texts(input?: string): Record<string, string> {
  const out: Record<string, string> = {};
  try {
    for (const [k, v] of Object.entries<any>(JSON.parse(input || "{}") ?? {})) {
      const text: any = Array.isArray(v) ? v.join(", ") : String(v ?? "");
      out[k] = text.toWellFormed?.() ?? text; // else it fits into no address
    }
  } catch { /* as it was written */ }
  return out;
}

// toolWords says what a call was for, and where what it looked at can be seen.
export function toolWords(s: { tool?: string; input?: string }, job?: string): [string, string] {
  const i = texts(s.input);
  const file = (p?: string, line?: string) => (job && p ? to.job(job, "files", "?path=" + seg(p) + (line ? "&line=" + seg(line) : "")) : "");
  const q = firstLine(i.queries || i.query || i.text || i.pattern || i.q || "", 60);
  const history = job ? to.job(job, "history") : "";
  switch (s.tool) {
    case "read_workspace_file": return ["read " + (i.path || "a file"), file(i.path, i.line || i.first)];
    case "list_workspace_files": return ["listed the files" + (i.path || i.under ? " in " + (i.path || i.under) : ""), job ? to.job(job, "files") : ""];
    case "search_workspace": return [`searched the files for “${q}”`, job ? to.job(job, "files", "?q=" + seg(q)) : ""];
    case "vector_search": return [`searched by meaning for “${q}”`, job ? to.job(job, "files", "?q=" + seg(q)) : ""];
    case "web_search": return [`searched the web for “${q}”`, ""];
    case "git_log": return ["git log", history];
    case "git_diff": return ["git diff " + [i.from, i.to].filter(Boolean).map(ref).join(".."), job && i.from ? to.job(job, "history", "?from=" + seg(i.from) + (i.to ? "&to=" + seg(i.to) : "")) : history];
    case "git_show": return ["git show " + ref(i.commit || i.rev || i.ref || ""), history];
    case "get_job": return ["looked at the job", job ? to.job(job, "progress") : ""];
    case "get_todos": return ["looked at the todos", job ? to.job(job, "todos") : ""];
    case "get_audit_trail": return ["read the audit", job ? to.job(job, "why") : ""];
    case "search_audit": return [`searched the audit for “${q}”`, job ? to.job(job, "why", "?q=" + seg(q)) : ""];
    case "get_chat_history": return ["read what the agent said", job ? to.job(job, "why") : ""];
    case "get_llm_request": return ["read model call " + (i.seq || ""), job && i.seq ? to.job(job, "why", "?seq=" + seg(i.seq)) : ""];
    case "get_graph_changes": return ["looked at changes of the graph", job ? to.job(job, "progress") : ""];
  }
  const arg = i.path || i.file || i.command || i.url || q;
  return [(s.tool || "tool") + (arg ? " " + firstLine(String(arg), 60) : ""), ""];
}
const ref = (r: string) => (/^[0-9a-f]{12,}$/.test(r) ? short(r) : r);

function RunStep({ s }: { s: Step }) {
  return (
    <div class="step run-card card">
      <header><Badge of={s.done ? "done" : "running"} tone={s.error ? "red" : undefined}>{s.done ? (s.error ? "run failed" : "run over") : s.run ? "run goes on" : "run wanted"}</Badge><span class="grow" />{s.run && <a href={to.run(s.run)}>open the run</a>}</header>
      {(s.html || s.text) && <details class="in"><summary>what it came to</summary>{s.html ? <Html html={s.html} /> : <pre class="plaintext">{s.text}</pre>}</details>}
    </div>
  );
}

// What was dismissed stays so while the page is open; a proposal changes nothing
// until it is applied.
const dismissed = new Set<string>();
const applied = new Set<string>();

function Proposal({ s, c, session, uses }: { s: Step; c: StepCard; session: SessionData; uses: ChatUses }) {
  const [, again] = useState(0);
  const task = useTask();
  const id = session.id + "/" + c.proposal;
  const mark = (set: Set<string>) => {
    set.add(id);
    again((n) => n + 1);
  };
  const done = applied.has(id) ? "applied" : dismissed.has(id) ? "dismissed" : "";
  if (s.error || (s.done === false)) return <ToolCard s={s} job={uses.job} />;
  if (c.kind === "feedback")
    return (
      <section class="card proposal" aria-label="Drafted feedback">
        <header><b>Draft of feedback</b>{done && <Badge>{done === "applied" ? "in the box" : done}</Badge>}</header>
        <div class="in"><div class="pre">{c.text}</div>
          {uses.onFeedback && <div class="actions"><Button small kind="main" onClick={() => { uses.onFeedback!(c.text || ""); mark(applied); }}>Use as feedback</Button>{!done && <Button small kind="quiet" onClick={() => mark(dismissed)}>Dismiss</Button>}</div>}
        </div>
      </section>
    );
  if (c.kind === "outline")
    return (
      <section class="card proposal" aria-label="Suggested description">
        <header><b>Suggested for the job</b>{done && <Badge>{done === "applied" ? "in the form" : done}</Badge>}</header>
        <div class="in">
          {c.title && <p><b>{c.title}</b></p>}
          {c.description && <div class="pre">{c.description}</div>}
          {c.instructions && <><p class="field-name">Instructions</p><div class="pre">{c.instructions}</div></>}
          {uses.onOutline && <div class="actions"><Button small kind="main" onClick={() => { uses.onOutline!(c); mark(applied); }}>Put into the form</Button></div>}
        </div>
      </section>
    );
  const files = c.diff?.files || [];
  const apply = () => task.run(async () => {
    await post(`/api/jobs/${seg(uses.job!)}/edits`, { path: c.path, base: c.base, text: c.new, proposal: c.proposal, key: key() });
    mark(applied);
    say("Applied to " + c.path);
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409;
  return (
    <section class="card proposal" aria-label={"Proposed edit of " + c.path}>
      <header><b>Proposed edit</b><span class="mono">{c.path}</span>{done && <Badge tone={done === "applied" ? "green" : "gray"}>{done}</Badge>}</header>
      <div class="in">
        {c.why && <p>{c.why}</p>}
        <Diff files={files} empty="The file would stay as it is." />
        {stale ? <p class="trouble">The file has changed since this was proposed. Ask for it again.</p> : <Trouble of={task.problem} />}
        {c.gone && !done && <p class="muted small">What it would replace is not there any more.</p>}
        {!done && !c.gone && uses.job && (
          <div class="actions">
            <Button small kind="main" busy={task.busy} disabled={!uses.canEdit} onClick={apply}>Apply</Button>
            <Button small kind="quiet" onClick={() => mark(dismissed)}>Dismiss</Button>
            {!uses.canEdit && <span class="muted small">Files can be changed while the job waits for review.</span>}
          </div>
        )}
      </div>
    </section>
  );
}
