// A new team: which one, for what, and from which folder.

import { useEffect, useRef, useState } from "preact/hooks";
import { key, post } from "../lib/api";
import { useData } from "../lib/data";
import { go, to } from "../lib/route";
import { useTitle } from "../lib/title";
import { Area, Badge, Button, Empty, Loading, say, Trouble, useTask } from "../parts/basic";

interface Kind { name: string; title: string; about: string; file?: string; roles: string[]; problem?: string }
interface Form { team: string; task: string; title: string; source: string; cost: string; time: string }

// What was filled in stays while the tab is open.
let kept: Form = { team: "", task: "", title: "", source: "", cost: "", time: "" };

// What could be asked of the teams that come with the program.
const ideas: Record<string, string> = {
  product: "A landing page for a bakery",
  "bug-hunt": "The total of an order is wrong when it has no items",
};

export function NewTeam() {
  useTitle("New team");
  const kinds = useData<{ kinds: Kind[] }>("/api/teams/kinds");
  const [form, setForm] = useState(kept);
  const task = useTask();
  const click = useRef(key());
  const put = (f: Partial<Form>) => {
    task.clear(); // what was wrong may be right now
    click.current = key();
    setForm((old) => (kept = { ...old, ...f }));
  };
  const all = [...(kinds.value.value?.kinds || [])].sort((a, b) => Number(b.name === "product") - Number(a.name === "product"));
  useEffect(() => {
    const first = all.find((k) => !k.problem && k.name === "product") || all.find((k) => !k.problem);
    if (!form.team && first) put({ team: first.name });
  }, [all.length]);
  const begin = () => task.run(async () => {
    const cost = parseFloat(form.cost);
    const r = await post<{ id: string }>("/api/teams", {
      team: form.team, task: form.task.trim(), title: form.title.trim() || undefined, source: form.source.trim() || undefined,
      max_cost: cost > 0 ? cost : undefined, time: form.time.trim() || undefined, key: click.current,
    });
    kept = { ...kept, task: "", title: "" };
    say("The team has begun");
    go(to.team(r.id));
  });
  const field = (name: keyof Form, label: string, note: string, hint = "") => (
    <label class="field"><span>{label} <span class="muted">{note}</span></span><input type="text" value={form[name]} placeholder={hint} onInput={(e: any) => put({ [name]: e.currentTarget.value })} /></label>
  );
  return (
    <div class="page narrow">
      <div class="head"><h1>New team</h1><span class="muted">a leader sets members to work until it is done</span></div>
      <form onSubmit={(e) => { e.preventDefault(); begin(); }}>
        <label class="field"><span>What is to be done</span><Area label="What is to be done" autofocus rows={4} value={form.task} onText={(s: string) => put({ task: s })} onSend={begin} placeholder={ideas[form.team] || "What you want of " + (all.find((k) => k.name === form.team)?.title || "the team")} /></label>
        <fieldset class="team-kinds"><legend class="field-name">By which team</legend>
          {!kinds.value.value ? <Loading of={kinds} /> : !all.length ? <Empty>No team is described here.</Empty> : all.map((k) => <KindCard key={k.name + k.file} k={k} on={form.team === k.name} onPick={() => put({ team: k.name })} />)}
        </fieldset>
        {field("source", "Begin from a folder", "optional; it is copied and never written to", "src/")}
        <details class="field"><summary class="muted">Title and limits</summary>
          {field("title", "Title", "optional")}
          <div class="two">{field("cost", "Costs at most", "dollars")}{field("time", "Takes at most", "like 30m or 2h")}</div>
        </details>
        <Trouble of={task.problem} />
        <div class="actions"><Button kind="main" type="submit" busy={task.busy} disabled={!form.task.trim() || !form.team}>Begin</Button><a class="btn quiet" href="/">Back</a></div>
      </form>
    </div>
  );
}

function KindCard({ k, on, onPick }: { k: Kind; on: boolean; onPick: () => void }) {
  return (
    <label class={"card team-kind" + (on ? " on" : "") + (k.problem ? " bad" : "")}>
      <input type="radio" name="team" checked={on} disabled={!!k.problem} onChange={onPick} />
      <span class="team-kind-in">
        <span><b>{k.title || k.name}</b> {k.file && <span class="mono small muted">{k.file}</span>}</span>
        {k.about && <span class="small">{k.about}</span>}
        {k.roles.length > 0 && <span class="chips">{k.roles.map((r) => <Badge key={r}>{r}</Badge>)}</span>}
        {k.problem && <span class="trouble">{k.problem}</span>}
      </span>
    </label>
  );
}
