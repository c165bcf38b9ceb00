// One stream of events for everything a tab shows. It is closed while nobody
// looks at the tab and taken up again where it was; where a stream cannot be had
// the server is asked every few seconds instead.

import { signal } from "@preact/signals";
import { away, get, query } from "./api";

export interface Change { flow: string; seq: number; kind: string; agent?: string; kinds?: string[] }
export interface Live { flow: string; agent: string; kind: string; text: string; call?: number; anew?: boolean; turn?: { round: number; take: number } }

type Hears = (c: Change | null) => void; // null: fetch anew, whatever it was

const hiddenFor = 30_000; // after which a hidden tab gives its connection back
const pollEvery = 3_000;

const listeners = new Map<string, Set<Hears>>();
const liveListeners = new Set<(l: Live) => void>();

// mode is how the tab hears: for the tests and for the curious.
export const mode = signal<"closed" | "stream" | "poll" | "asleep">("closed");

let source: EventSource | null = null;
let watched = "";
let resume = "";
let failures = 0;
let timer = 0;
let sleeper = 0;

// watch calls f with every change of a flow, or of home, until the function it
// returns is called.
export function watch(flow: string, f: Hears): () => void {
  let set = listeners.get(flow);
  if (!set) listeners.set(flow, (set = new Set()));
  set.add(f);
  settle();
  return () => {
    set.delete(f);
    if (!set.size) listeners.delete(flow);
    settle();
  };
}

export function onLive(f: (l: Live) => void): () => void {
  liveListeners.add(f);
  return () => liveListeners.delete(f);
}

function tell(c: Change) {
  listeners.get(c.flow)?.forEach((f) => f(c));
}
function tellAll() {
  listeners.forEach((set) => set.forEach((f) => f(null)));
}

// known are the places in what was heard of flows that are watched still.
const name = (place: string) => place.split(":")[0];
const known = (places: string) => places.split(",").filter((p) => watched.split(",").includes(name(p)));

// tellNew is for those who were not heard of before: what they fetched may be from
// before it was listened.
function tellNew(after: string) {
  const old = known(after).map(name);
  for (const flow of watched.split(",")) if (!old.includes(flow)) listeners.get(flow)?.forEach((f) => f(null));
}

let settling = 0;
function settle() {
  clearTimeout(settling);
  settling = window.setTimeout(() => {
    const now = [...listeners.keys()].sort().join(",");
    if (now !== watched) open(now);
  }, 30);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

function open(now: string): void {
  close();
  watched = now;
  resume = known(resume).join(",");
  if (!watched) {
    mode.value = "closed";
    return;
  }
  if (document.hidden && mode.value === "asleep") return;
  if (failures >= 2) {
    poll();
    return;
  }
  mode.value = "stream";
  const after = resume;
  const s = (source = new EventSource("/api/events" + query({ watch: watched, after })));
  s.addEventListener("hello", (e) => {
    if (source !== s) return;
    const d = parse(e);
    resume = d?.resume || resume;
    failures = 0;
    tellNew(after);
    if (away.value) {
      away.value = false;
      tellAll();
    }
  });
  s.addEventListener("change", (e) => {
    if (source !== s) return;
    resume = (e as MessageEvent).lastEventId || resume;
    const c = parse(e);
    if (c) tell(c);
  });
  s.addEventListener("live", (e) => {
    const l = parse(e);
    if (l) liveListeners.forEach((f) => f(l));
  });
  s.addEventListener("resync", () => tellAll());
  s.onerror = () => {
    if (source !== s) return;
    failures++;
    close();
    if (failures >= 2) poll();
    else timer = window.setTimeout(() => open(watched), 1000);
  };
}

function parse(e: Event): any {
  try {
    return JSON.parse((e as MessageEvent).data);
  } catch {
    return null;
  }
}

// poll asks for what has changed, and every now and then whether a stream can be
// had again.
async function poll(times = 0): Promise<void> {
  mode.value = "poll";
  const mine = watched;
  const after = resume;
  const wasAway = away.value;
  try {
    const r = await get<{ changes: Change[]; resume: string; resync?: boolean }>("/api/changes" + query({ watch: mine, after }));
    if (mine !== watched || mode.value !== "poll") return;
    resume = r.resume;
    if (r.resync || wasAway) tellAll();
    else {
      r.changes?.forEach(tell);
      tellNew(after);
    }
    if (wasAway || times >= 5) {
      failures = 1; // one more try
      open(watched);
      return;
    }
  } catch {
    if (mine !== watched || mode.value !== "poll") return;
  }
  timer = window.setTimeout(() => poll(times + 1), pollEvery);
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(sleeper);
  if (document.hidden) {
    sleeper = window.setTimeout(() => {
      close();
      mode.value = "asleep";
    }, hiddenFor);
  } else if (mode.value === "asleep") {
    mode.value = "closed";
    open(watched);
  }
});
addEventListener("pagehide", close);
