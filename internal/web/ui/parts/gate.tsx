// A question to a person, where it comes up.

import { useState } from "preact/hooks";
import { key, post, seg } from "../lib/api";
import { Ago, Area, Badge, Button, Trouble, useTask } from "./basic";

export interface GateData {
  gate: string; kind: string; title?: string; text?: string; html?: string; choices: { id: string; text?: string }[];
  revision: number; default?: string; since: string; closes?: string; flow: string;
}

const names: Record<string, string> = { launch: "A run is to be launched", permission: "A tool wants your permission", plan: "A plan waits for you", override: "A winner was chosen", review: "A plan waits for you", trouble: "It cannot go on by itself" };

// choice is the label of an answer. What is said about trouble calls going on by its
// name.
function choice(g: GateData, c: GateData["choices"][number]): string {
  const text = c.text || c.id;
  if (g.kind === "trouble" && c.id === "retry" && c.text) return "Retry: " + text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function GateCard({ g, flow }: { g: GateData; flow: string }) {
  const task = useTask();
  const [text, setText] = useState("");
  const reply = (choice: string) => task.run(() => post(`/api/flows/${seg(g.flow || flow)}/gates/${seg(g.gate)}`, { choice, text: text.trim() || undefined, revision: g.revision, key: key() }));
  return (
    <section class="card gate" aria-label={g.title || names[g.kind] || "Question"}>
      <header><Badge tone="amber">needs you</Badge><b>{g.title || names[g.kind] || g.kind}</b><span class="grow" /><Ago at={g.since} /></header>
      <div class="in">
        {g.html ? <div class="prose" dangerouslySetInnerHTML={{ __html: g.html }} /> : g.text && <pre class="plaintext">{g.text}</pre>}
        <Area label="What you want to say with it" rows={1} value={text} onText={setText} placeholder="Anything to say with it (optional)" />
        <Trouble of={task.problem} />
        <div class="actions">
          {g.choices.map((c, i) => <Button key={c.id} small kind={i === 0 ? "main" : "plain"} busy={task.busy} onClick={() => reply(c.id)}>{choice(g, c)}</Button>)}
        </div>
        {g.closes && <p class="muted small">Without an answer: {g.default || "nothing"} <Ago at={g.closes} lead="by " /></p>}
      </div>
    </section>
  );
}
