// Data that a page shows: fetched, kept fresh by the stream, never blank while a
// newer copy is on its way.

import { effect, signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { away, get, Problem } from "./api";
import { watch } from "./stream";

export interface Data<T> {
  value: Signal<T | null>;
  error: Signal<Problem | null>;
  again: () => void;
}

// useData fetches url and does so again whenever one of flows has changed. An
// empty url fetches nothing.
export function useData<T = any>(url: string, ...flows: (string | undefined)[]): Data<T> {
  const kept = useMemo(() => ({ value: signal<T | null>(null), error: signal<Problem | null>(null), url: "" }), []);
  const run = useMemo(() => ({ going: false, dirty: false, url, stop: null as AbortController | null, timer: 0 }), []);

  const fetchNow = async () => {
    if (!run.url) return;
    if (run.going) {
      run.dirty = true;
      return;
    }
    run.going = true;
    run.dirty = false;
    const mine = run.url;
    run.stop = new AbortController();
    try {
      const v = await get<T>(mine, run.stop.signal);
      if (mine === run.url) {
        kept.value.value = v;
        kept.error.value = null;
      }
    } catch (e: any) {
      if (e?.name !== "AbortError" && mine === run.url) kept.error.value = e instanceof Problem ? e : new Problem(0, "", String(e));
    }
    run.going = false;
    if (run.dirty) soon(0);
  };
  const soon = (ms: number) => {
    clearTimeout(run.timer);
    run.timer = window.setTimeout(fetchNow, ms);
  };

  useEffect(() => {
    if (base(run.url) !== base(url)) kept.value.value = null; // another commit of the same is no reason to go blank
    kept.error.value = null;
    run.url = url;
    run.stop?.abort();
    run.going = false;
    fetchNow();
    return () => {
      run.stop?.abort();
      clearTimeout(run.timer);
    };
  }, [url]);

  useEffect(() => {
    const offs = flows.filter(Boolean).map((f) => watch(f!, () => soon(80)));
    return () => offs.forEach((off) => off());
  }, [flows.join(",")]);

  // What could not be fetched while the server was away is fetched when it is back,
  // also where nobody tells of changes.
  useEffect(() => effect(() => {
    if (!away.value && kept.error.value?.code === "away") soon(80);
  }), []);

  return { value: kept.value, error: kept.error, again: () => soon(0) };
}

const base = (url: string) => url.replace(/([?&])at=[^&]*/, "");
