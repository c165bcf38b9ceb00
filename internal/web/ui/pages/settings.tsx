// How the program is configured here, and whether what it needs is there. Nothing
// can be changed on this page.

import { useData } from "../lib/data";
import { useTitle } from "../lib/title";
import { Badge, Loading, Trouble } from "../parts/basic";

interface Conf {
  version: string; source?: string; dir?: string; agents: { id: string; backend: string; model: string; tools?: boolean; servers?: string[] }[];
  interactive?: { agent: string; model?: string; approve?: boolean; disabled?: boolean; dir?: string }; offline?: boolean; warnings: string[];
  look?: { theme?: string; file?: string; warnings?: string[] }; problem?: string;
}
interface Check { state: string; area: string; what: string; do?: string }

export function Settings() {
  useTitle("Settings");
  const conf = useData<Conf>("/api/settings");
  const health = useData<{ checks: Check[] }>("/api/health");
  const c = conf.value.value;
  return (
    <div class="page">
      <div class="head"><h1>Settings</h1><span class="muted">read from files; change them there</span></div>
      {!c ? <Loading of={conf} /> : (
        <>
          {c.problem && <Trouble of={new Error(c.problem)} />}
          {(c.warnings || []).map((w) => <p class="note" key={w}>{w}</p>)}
          <section class="card" aria-label="Configuration"><div class="in"><dl class="facts">
            <dt>Version</dt><dd>{c.version}</dd>
            {c.source && <><dt>Agents come from</dt><dd class="mono">{c.source}</dd></>}
            {c.dir && <><dt>Folder</dt><dd class="mono">{c.dir}</dd></>}
            {c.interactive && <><dt>You talk to</dt><dd>{c.interactive.agent} {c.interactive.model && <span class="muted">{c.interactive.model}</span>}{c.interactive.approve && <Badge>asks before runs</Badge>}</dd></>}
            <dt>Models</dt><dd>{c.offline ? "scripted: nothing is called" : "called"}</dd>
            {c.look?.theme && <><dt>Theme of the terminal</dt><dd>{c.look.theme}</dd></>}
          </dl></div></section>
          <h2 class="gap">Agents</h2>
          <div class="card scroll"><table class="list"><thead><tr><th>Agent</th><th>Backend</th><th>Model</th><th>Tools</th></tr></thead>
            <tbody>{c.agents.map((a) => <tr key={a.id}><td><b>{a.id}</b></td><td>{a.backend}</td><td class="mono">{a.model}</td><td>{a.tools ? "files and commands" : "speaks only"}{a.servers?.length ? ", " + a.servers.join(", ") : ""}</td></tr>)}</tbody></table></div>
        </>
      )}
      <h2 class="gap">Health</h2>
      {!health.value.value ? <Loading of={health} what="Looking" /> : (
        <div class="card scroll"><table class="list"><tbody>{(health.value.value.checks || []).map((h, i) => (
          <tr key={i}><td><Badge of={h.state} /></td><td class="nowrap">{h.area}</td><td>{h.what}{h.do && <div class="muted small">{h.do}</div>}</td></tr>
        ))}</tbody></table></div>
      )}
    </div>
  );
}
