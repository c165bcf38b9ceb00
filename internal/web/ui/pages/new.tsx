// A new job: what is wanted, from what, and whether a person looks at the plan
// first. A companion beside it helps to word it.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, key, post } from "../lib/api";
import { bytes } from "../lib/format";
import { opening } from "../lib/keys";
import { go, to } from "../lib/route";
import { useTitle } from "../lib/title";
import { Area, Button, say, Trouble, useTask } from "../parts/basic";
import { Chat, useSession } from "../parts/chat";

interface Form { title: string; description: string; instructions: string; sources: string; paths: string; review: string; execute: string }
const blank: Form = { title: "", description: "", instructions: "", sources: "", paths: "", review: "", execute: "" };

// What was filled in stays while the tab is open.
let keptForm = blank;
let keptFiles: File[] = [];
let keptSession = "";

const list = (s: string) => s.split("\n").map((l) => l.trim()).filter(Boolean);

export function NewJob() {
  useTitle("New job");
  const [form, setForm] = useState(keptForm);
  const [files, setFiles] = useState<File[]>(keptFiles);
  const [session, setSession] = useState(keptSession);
  const [review, setReview] = useState<{ review: boolean; reason: string } | null>(null);
  const task = useTask();
  const click = useRef(key());

  const put = (f: Partial<Form>) => {
    task.clear(); // what was wrong may be right now
    setForm((old) => (keptForm = { ...old, ...f }));
  };
  const putFiles = (f: File[]) => {
    task.clear();
    setFiles((keptFiles = f));
  };
  useEffect(() => {
    const t = setTimeout(() => {
      post("/api/jobs/would-review", { description: form.description || "x", review: form.review, sources: list(form.sources), paths: list(form.paths), documents: files.length }).then(setReview, () => setReview(null));
    }, 250);
    return () => clearTimeout(t);
  }, [form.review, form.sources, form.paths, files.length]);

  const begin = () => task.run(async () => {
    const body = new FormData();
    for (const k of ["title", "description", "instructions", "review", "execute"] as const) if (form[k]) body.append(k, form[k]);
    list(form.sources).forEach((s) => body.append("sources", s));
    list(form.paths).forEach((s) => body.append("paths", s));
    if (session) body.append("companion", session);
    body.append("key", click.current);
    files.forEach((f) => body.append("files", f, (f as any).webkitRelativePath || f.name));
    const r = await call<{ id: string }>("POST", "/api/jobs", body);
    keptForm = blank;
    keptFiles = [];
    keptSession = "";
    say("The job has begun");
    go(to.job(r.id));
  });

  return (
    <div class="page">
      <div class="head"><h1>New job</h1><span class="muted">it plans with everything you give it, then waits for you</span></div>
      <div class="split">
        <form onSubmit={(e) => { e.preventDefault(); begin(); }}>
          <label class="field"><span>What is to be done</span><Area label="What is to be done" autofocus rows={5} value={form.description} onText={(s: string) => put({ description: s })} onSend={begin} placeholder="Compare the three offers and draft a recommendation" /></label>
          <label class="field"><span>Instructions <span class="muted">binding besides, optional</span></span><Area label="Instructions" rows={2} value={form.instructions} onText={(s: string) => put({ instructions: s })} /></label>
          <label class="field"><span>Title <span class="muted">optional</span></span><input type="text" value={form.title} onInput={(e: any) => put({ title: e.currentTarget.value })} /></label>
          <Drop files={files} onFiles={putFiles} />
          <label class="field"><span>Files and folders on this machine <span class="muted">one in a line</span></span><Area label="Paths" rows={1} value={form.paths} onText={(s: string) => put({ paths: s })} placeholder="offers/" /></label>
          <label class="field"><span>Datasources <span class="muted">one in a line; read only unless granted</span></span><Area label="Datasources" rows={1} value={form.sources} onText={(s: string) => put({ sources: s })} placeholder="sqlite:costs.db" /></label>
          <div class="two">
            <div><p class="field-name" id="review-name">Look at the plan first</p><Pick label="review-name" at={form.review} of={[["", "Automatic"], ["true", "Yes"], ["false", "No"]]} onPick={(v) => put({ review: v })} /></div>
            <div><p class="field-name" id="execute-name">Carried out by</p><Pick label="execute-name" at={form.execute} of={[["", "As configured"], ["single", "One agent"], ["run", "A run that votes"]]} onPick={(v) => put({ execute: v })} /></div>
          </div>
          <p class="muted reason" role="status">{review && (review.review ? "It will wait for you: " : "It will not wait for you: ") + review.reason}</p>
          <Trouble of={task.problem} />
          <div class="actions"><Button kind="main" type="submit" busy={task.busy} disabled={!form.description.trim()}>Begin</Button><a class="btn quiet" href="/">Back</a></div>
        </form>
        <Outliner id={session} onBegin={(s) => setSession((keptSession = s))} form={form} onForm={put} />
      </div>
    </div>
  );
}

function Pick({ label, at, of, onPick }: { label: string; at: string; of: string[][]; onPick: (v: string) => void }) {
  return <div class="segments" role="group" aria-labelledby={label}>{of.map(([v, name]) => <button key={v} type="button" aria-pressed={at === v} onClick={() => onPick(v)}>{name}</button>)}</div>;
}

function Drop({ files, onFiles }: { files: File[]; onFiles: (f: File[]) => void }) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const add = (l: FileList | null) => l && onFiles([...files, ...Array.from(l)]);
  return (
    <div class="field">
      <p class="field-name">Documents</p>
      <div class={"drop" + (over ? " over" : "")} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
        onDrop={(e: any) => { e.preventDefault(); setOver(false); add(e.dataTransfer.files); }}>
        Drop files here, or <Button small onClick={() => input.current?.click()}>choose</Button>
        <input ref={input} type="file" multiple hidden aria-label="Documents" onChange={(e: any) => { add(e.currentTarget.files); e.currentTarget.value = ""; }} />
        {files.length > 0 && <div class="chips">{files.map((f, i) => <span class="chip" key={i}>{f.name} <span class="muted">{bytes(f.size)}</span><button type="button" aria-label={"Remove " + f.name} onClick={() => onFiles(files.filter((_, k) => k !== i))}>✕</button></span>)}</div>}
      </div>
    </div>
  );
}

// Outliner is the companion before there is a job. What it suggests is put into
// the form by a click, never by itself.
function Outliner({ id, onBegin, form, onForm }: { id: string; onBegin: (id: string) => void; form: Form; onForm: (f: Partial<Form>) => void }) {
  const task = useTask();
  const data = useSession(id);
  const o = data.value.value?.outline;
  const [done, setDone] = useState("");
  const talks = useRef(false); // it was begun here: what is typed next is for it
  const suggested = JSON.stringify(o || "");
  const take = (x: { title?: string; description?: string; instructions?: string }) => {
    const f: Partial<Form> = {};
    if (x.title) f.title = x.title;
    if (x.description) f.description = x.description;
    if (x.instructions) f.instructions = x.instructions;
    onForm(f);
    say("Put into the form");
  };
  const news = o && o.by !== "you" && suggested !== done && ((o.description && o.description !== form.description) || (o.instructions && o.instructions !== form.instructions) || (o.title && o.title !== form.title));
  return (
    <aside class="side tall" aria-label="Companion">
      <header><h2>Companion</h2><span class="muted small">helps to word it</span></header>
      {news && (
        <section class="card proposal pad" aria-label="Suggested for the form">
          <p><b>Suggested for the form</b></p>
          {o.title && <p><b>{o.title}</b></p>}{o.description && <p class="pre">{o.description}</p>}{o.instructions && <p class="pre muted">{o.instructions}</p>}
          <div class="actions"><Button small kind="main" onClick={() => { take(o); setDone(suggested); }}>Put into the form</Button><Button small kind="quiet" onClick={() => setDone(suggested)}>Dismiss</Button></div>
        </section>
      )}
      {id ? <Chat id={id} data={data} autofocus={talks.current} placeholder="What do you have in mind?" uses={{ onOutline: take }} hints={["Help me describe what I want", "What should I tell the agent besides?"]} /> : (
        <div class="empty">
          <p>Not sure how to put it? Talk it over, and put what comes of it into the form.</p>
          <Trouble of={task.problem} />
          <Button busy={task.busy} onClick={() => task.run(() => opening(async () => {
            const r = await post<{ id: string }>("/api/sessions", { kind: "outline", key: key() });
            talks.current = true;
            onBegin(r.id);
          }))}>Talk it over</Button>
        </div>
      )}
    </aside>
  );
}
