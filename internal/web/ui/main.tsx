// The cockpit: what needs a person, what is at work, what is done, and a page for
// each of them.

import "./style/main.css";
import { render } from "preact";
import { useState } from "preact/hooks";
import { signal, useSignalEffect } from "@preact/signals";
import { away, locked } from "./lib/api";
import { useData } from "./lib/data";
import { allKeys, useKeys } from "./lib/keys";
import { go, place } from "./lib/route";
import { mode } from "./lib/stream";
import { title } from "./lib/title";
import { Button, Dialog, said } from "./parts/basic";
import { type HomeData, Home } from "./pages/home";
import { NewJob } from "./pages/new";
import { JobPage } from "./job/page";
import { SessionPage } from "./pages/session";
import { RunPage } from "./pages/run";
import { AuditPage } from "./pages/audit";
import { Settings } from "./pages/settings";
import { NewTeam } from "./team/new";
import { TeamPage } from "./team/page";

type Theme = "auto" | "light" | "dark";
const theme = signal<Theme>((localStorage.getItem("theme") as Theme) || "auto");

function applyTheme() {
  const root = document.documentElement;
  if (theme.value === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme.value);
}
applyTheme();

function cycleTheme() {
  theme.value = theme.value === "auto" ? "dark" : theme.value === "dark" ? "light" : "auto";
  localStorage.setItem("theme", theme.value);
  applyTheme();
}

function Page() {
  const p = place.value.path;
  const id = p[1] || "";
  switch (p[0] || "") {
    case "": return <Home />;
    case "new": return <NewJob />;
    case "jobs": return <JobPage key={id} id={id} tab={p[2] || ""} />;
    case "teams": return id === "new" ? <NewTeam /> : <TeamPage key={id} id={id} tab={p[2] || ""} />;
    case "sessions": return <SessionPage key={id} id={id} />;
    case "runs": return <RunPage key={id} id={id} tab={p[2] || ""} />;
    case "audit": return <AuditPage key={id} id={id} />;
    case "settings": return <Settings />;
  }
  return <div class="page"><h1>Nothing here</h1><p>There is no such page. <a href="/">Home</a></p></div>;
}

function Banner() {
  if (locked.value)
    return <div class="banner red" role="alert">This browser is not logged in. Open the address that <code>conclave serve</code> printed.</div>;
  if (away.value)
    return <div class="banner amber" role="alert"><span class="spin" aria-hidden="true" /> The server does not answer. What you see may be old; the page goes on by itself when it is back. Nothing you have written here is lost.</div>;
  return null;
}

function Help({ onClose }: { onClose: () => void }) {
  const seen = new Set<string>();
  const keys = allKeys().filter((k) => !seen.has(k.key) && seen.add(k.key));
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">{keys.map((k) => <div key={k.key}><dt><kbd>{k.key}</kbd></dt><dd>{k.what}</dd></div>)}</dl>
      <p class="muted">In a text field, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> sends. <kbd>Esc</kbd> leaves a dialog.</p>
    </Dialog>
  );
}

function App() {
  const home = useData<HomeData>("/api/home?limit=1", "home");
  const [help, setHelp] = useState(false);
  const needs = home.value.value?.needs?.length || 0;
  useSignalEffect(() => {
    const n = home.value.value?.needs?.length || 0;
    document.title = (n ? `(${n}) ` : "") + (title.value ? title.value + " · " : "") + "Conclave";
  });
  useKeys([
    { key: "?", what: "this help", do: () => setHelp(true) },
    { key: "h", what: "home", do: () => go("/") },
    { key: "n", what: "new job", do: () => go("/new") },
    { key: "T", what: "new team", do: () => go("/teams/new") },
    { key: "t", what: "dark or light", do: cycleTheme },
  ]);
  const at = place.value.path[0] || "";
  const link = (href: string, name: string, is: string, note = 0) => (
    <a href={href} aria-current={at === is ? "page" : undefined}>{name}{note > 0 && <span class="count alert">{note}<span class="sr"> need you</span></span>}</a>
  );
  return (
    <>
      <a class="skip-link" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href="/"><svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><circle cx="10" cy="4" r="2.6" /><circle cx="4" cy="14.5" r="2.6" /><circle cx="16" cy="14.5" r="2.6" /><path d="M10 7v3M6.2 13l2-1.6M13.8 13l-2-1.6" /></svg>Conclave</a>
        <nav aria-label="Pages">{link("/", "Home", "", needs)}{link("/new", "New job", "new")}<a href="/teams/new" aria-current={at === "teams" && place.value.path[1] === "new" ? "page" : undefined}>New team</a>{link("/settings", "Settings", "settings")}</nav>
        <span class="grow" />
        <Button kind="quiet" small onClick={cycleTheme} aria-label={"Colours: " + theme.value} title={"Colours: " + theme.value}>{theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}</Button>
        <Button kind="quiet" small onClick={() => setHelp(true)} aria-label="Keys">?</Button>
      </header>
      <Banner />
      <main id="main" tabIndex={-1} data-hears={mode.value}><Page /></main>
      <div class="said" role="status" aria-live="polite">{said.value && <span>{said.value}</span>}</div>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

render(<App />, document.getElementById("app")!);
