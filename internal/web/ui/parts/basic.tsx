// Small things that every page is made of.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ago } from "../lib/format";
import { words } from "../lib/api";

type Kids = { children?: ComponentChildren };

// now ticks so that "2 min ago" stays true.
const now = signal(Date.now());
setInterval(() => document.hidden || (now.value = Date.now()), 10_000);

export function Ago({ at, lead = "" }: { at?: string; lead?: string }) {
  if (!at) return null;
  return <time class="muted nowrap" dateTime={at} title={new Date(at).toLocaleString()}>{lead}{ago(at, Math.max(now.value, Date.now()))}</time>;
}

export function Button(p: { kind?: "main" | "plain" | "danger" | "quiet"; small?: boolean; busy?: boolean } & Kids & any) {
  const { kind = "plain", small, busy, children, class: extra, ...rest } = p;
  return (
    <button type="button" {...rest} class={`btn ${kind}${small ? " small" : ""} ${extra || ""}`} disabled={rest.disabled || busy} aria-busy={busy || undefined}>
      {busy && <span class="spin" aria-hidden="true" />}{children}
    </button>
  );
}

// useTask runs something once at a time and keeps what went wrong.
export function useTask() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const going = useRef(false);
  const run = async (f: () => Promise<unknown>) => {
    if (going.current) return false;
    going.current = true;
    setBusy(true);
    setProblem(null);
    try {
      await f();
      return true;
    } catch (e) {
      setProblem(e);
      return false;
    } finally {
      going.current = false;
      setBusy(false);
    }
  };
  return { busy, problem, run, clear: () => setProblem(null) };
}

export function Trouble({ of, again }: { of: unknown; again?: () => void }) {
  if (!of) return null;
  return (
    <div class="trouble" role="alert">
      {words(of)} {again && <Button small kind="quiet" onClick={again}>Try again</Button>}
    </div>
  );
}

const tones: Record<string, string> = {
  review: "amber", trouble: "red", failed: "red", error: "red", problem: "red", damaged: "red", lost: "red", cancelled: "gray",
  completed: "green", success: "green", done: "green", ok: "green", voted: "green",
  planning: "blue", running: "blue", working: "blue", voting: "blue", presenting: "blue", chatting: "blue", processing: "blue",
  "waiting for you": "amber", "waiting for your review": "amber", "needs your help": "red", awaiting: "amber", warning: "amber", waiting: "gray",
};
export function Badge({ of, tone, children }: { of?: string; tone?: string } & Kids) {
  return <span class={"badge " + (tone || tones[of || ""] || "gray")}>{children ?? of}</span>;
}

export function Empty({ children }: Kids) {
  return <div class="empty">{children}</div>;
}

// fault is what went wrong with data, but for that the server is away: that is said
// once, above the page, and what is missing is fetched when it is back.
export const fault = (e: any) => (e?.code === "away" ? null : e);

export function Loading({ of, what = "Loading" }: { of?: { error: { value: any } }; what?: string }) {
  const e = of?.error.value;
  if (e?.status === 404) return <div class="empty" role="alert"><p>{words(e)}</p><p><a href="/">Home</a></p></div>;
  if (fault(e)) return <Trouble of={e} />;
  return <div class="empty" role="status"><span class="spin" aria-hidden="true" /> {what}…</div>;
}

// Html shows what the server has rendered and cleaned.
export function Html({ html, class: c = "" }: { html?: string; class?: string }) {
  return <div class={"prose " + c} dangerouslySetInnerHTML={{ __html: html || "" }} />;
}

export function Tabs({ tabs, at, onPick, label }: { tabs: { id: string; name: string; note?: ComponentChildren }[]; at: string; onPick: (id: string) => void; label: string }) {
  const move = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const i = tabs.findIndex((t) => t.id === at);
    const next = tabs[(i + by + tabs.length) % tabs.length];
    onPick(next.id);
    document.getElementById("tab-" + next.id)?.focus();
    e.preventDefault();
  };
  useEffect(() => {
    document.getElementById("tab-" + at)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [at]);
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((t) => (
        <button key={t.id} id={"tab-" + t.id} type="button" role="tab" aria-selected={t.id === at} tabIndex={t.id === at ? 0 : -1} onClick={() => onPick(t.id)}>
          {t.name}{t.note !== undefined && t.note !== 0 && <span class="count">{t.note}</span>}
        </button>
      ))}
    </div>
  );
}

// Dialog is modal: what is behind it cannot be reached, and Escape leaves it.
export function Dialog({ title, onClose, children, wide }: { title: string; onClose: () => void; wide?: boolean } & Kids) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} class={wide ? "wide" : ""} aria-label={title} onClose={onClose} onClick={(e: any) => e.target === ref.current && onClose()}>
      <div class="dialog-in">
        <header><h2>{title}</h2><Button kind="quiet" small aria-label="Close" onClick={onClose}>✕</Button></header>
        {children}
      </div>
    </dialog>
  );
}

// useFocus has an element take the focus when it appears.
export function useFocus<T extends HTMLElement>(on = true) {
  const ref = useRef<T>(null);
  useEffect(() => {
    if (on) ref.current?.focus();
  }, []);
  return ref;
}

// Area is a text field that grows, and saves on Ctrl+Enter.
export function Area({ value, onText, onSend, label, rows = 3, autofocus, ...rest }: { value: string; onText: (s: string) => void; onSend?: () => void; label: string; rows?: number; autofocus?: boolean } & any) {
  const ref = useFocus<HTMLTextAreaElement>(!!autofocus);
  return (
    <textarea
      ref={ref} {...rest} class={"area " + (rest.class || "")} rows={rows} style={{ minHeight: rows * 1.5 + 0.9 + "em" }} aria-label={label} value={value}
      onInput={(e: any) => onText(e.currentTarget.value)}
      onKeyDown={(e: KeyboardEvent) => {
        if (onSend && e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
          e.preventDefault();
          onSend();
        }
        rest.onKeyDown?.(e);
      }}
    />
  );
}

// said is told to screen readers, and shown for a moment.
export const said = signal("");
let saidTimer = 0;
export function say(s: string) {
  said.value = s;
  clearTimeout(saidTimer);
  saidTimer = window.setTimeout(() => (said.value = ""), 6000);
}
