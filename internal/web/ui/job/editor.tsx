// A file as text. Saving makes a commit in the person's name and a new revision
// of the plan; if the file has changed meanwhile both versions are shown.

import { useEffect, useState } from "preact/hooks";
import { post, Problem } from "../lib/api";
import { Area, Button, Html, say, Trouble, useTask } from "../parts/basic";
import { act, useJob } from "./context";
import { draftOf, dropDraft, putDraft } from "./drafts";

export function Editor({ path, base, text, onDone }: { path: string; base: string; text: string; onDone: () => void }) {
  const { id, again } = useJob();
  const mine = draftOf(id, path);
  const from = mine ? { base: mine.base, text: mine.was } : { base, text };
  const now = mine?.text ?? text;
  const [preview, setPreview] = useState(false);
  const [html, setHtml] = useState("");
  const task = useTask();
  const put = (s: string) => {
    if (s === from.text) dropDraft(id, path);
    else putDraft({ job: id, path, base: from.base, was: from.text, text: s });
  };
  useEffect(() => {
    if (preview) post<{ html: string }>("/api/markdown", { text: now }).then((r) => setHtml(r.html), () => setHtml(""));
  }, [preview]);
  const save = (onto: string) => task.run(async () => {
    await act(id, "edits", { path, base: onto, text: now });
    dropDraft(id, path);
    say("Saved " + path);
    again();
    onDone();
  });
  const stale = task.problem instanceof Problem && task.problem.status === 409 ? (task.problem.body.current as { hash?: string; text?: string }) : null;
  return (
    <section class="editor" aria-label={"Edit " + path}>
      <div class="doc-head">
        <span class="mono">{path}</span><span class="grow" />
        {path.endsWith(".md") && <div class="segments" role="group" aria-label="View"><button type="button" aria-pressed={!preview} onClick={() => setPreview(false)}>Write</button><button type="button" aria-pressed={preview} onClick={() => setPreview(true)}>Preview</button></div>}
      </div>
      {preview ? <div class="card"><div class="in"><Html html={html} /></div></div> : <Area class="code" label={"Text of " + path} autofocus spellcheck={false} value={now} onText={put} onSend={() => save(from.base)} />}
      {stale ? (
        <Conflict path={path} theirs={stale.text || ""} onTheirs={() => { dropDraft(id, path); again(); onDone(); }}
          onMine={() => stale.hash && save(stale.hash)} onMerge={() => { putDraft({ job: id, path, base: stale.hash || "", was: stale.text || "", text: now }); task.clear(); }} busy={task.busy} />
      ) : <Trouble of={task.problem} />}
      <div class="actions">
        <Button kind="main" busy={task.busy} disabled={now === from.text || !!stale} onClick={() => save(from.base)}>Save as a new revision</Button>
        <Button kind="quiet" onClick={() => { dropDraft(id, path); onDone(); }}>Discard</Button>
        <span class="muted small">committed in your name; the agent is told what you changed</span>
      </div>
    </section>
  );
}

export function Conflict({ path, theirs, onTheirs, onMine, onMerge, busy }: { path: string; theirs: string; onTheirs: () => void; onMine: () => void; onMerge?: () => void; busy: boolean }) {
  return (
    <div class="conflict" role="alert">
      <p class="trouble">{path} has changed since you began. Yours is above and nothing of it is lost; this is how it is now:</p>
      <pre class="plaintext card pad">{theirs}</pre>
      <div class="actions">
        <Button small onClick={onTheirs}>Take theirs</Button>
        <Button small kind="danger" busy={busy} onClick={onMine}>Save mine over it</Button>
        {onMerge && <Button small kind="quiet" onClick={onMerge}>Go on editing mine</Button>}
      </div>
    </div>
  );
}
