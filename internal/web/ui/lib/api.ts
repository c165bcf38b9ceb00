// What the pages ask of the server.

import { signal } from "@preact/signals";

// A Problem is what the server said instead of what was asked for.
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly what = "", readonly body: any = {}) {
    super(message);
  }
}

// away: the server does not answer. locked: it does not know this browser.
export const away = signal(false);
export const locked = signal(false);

export function key(): string {
  const b = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
}

// call asks the server. What is said last is sent even if the page goes away
// meanwhile, as far as browsers do that: 64 kB.
export async function call<T = any>(method: string, url: string, body?: unknown, stop?: AbortSignal, last = false): Promise<T> {
  const init: RequestInit = { method, headers: { Accept: "application/json" }, signal: stop };
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.keepalive = last && (init.body as string).length < 20_000;
    (init.headers as Record<string, string>)["Content-Type"] = "application/json";
  }
  let r: Response;
  try {
    r = await fetch(url, init);
  } catch (e: any) {
    if (e?.name === "AbortError") throw e;
    away.value = true;
    throw new Problem(0, "away", "The server does not answer.");
  }
  away.value = false;
  const text = await r.text();
  let data: any = {};
  try {
    data = text ? JSON.parse(text) : {};
  } catch {
    data = { error: text.slice(0, 300) };
  }
  if (r.status === 401) locked.value = true;
  if (!r.ok) throw new Problem(r.status, data.code || "", data.error || r.statusText, data.do || "", data);
  locked.value = false;
  return data as T;
}

export const get = <T = any>(url: string, stop?: AbortSignal) => call<T>("GET", url, undefined, stop);
export const post = <T = any>(url: string, body: unknown = {}, last = false) => call<T>("POST", url, body, undefined, last);

// seg is an id as part of an address.
export const seg = encodeURIComponent;
export function query(q: Record<string, unknown>): string {
  const out = Object.entries(q).filter(([, v]) => v !== undefined && v !== "" && v !== null && v !== 0);
  return out.length ? "?" + out.map(([k, v]) => k + "=" + seg(String(v))).join("&") : "";
}

export function words(e: unknown): string {
  if (e instanceof Problem) return e.what ? e.message + " " + e.what : e.message;
  return e instanceof Error ? e.message : String(e);
}
