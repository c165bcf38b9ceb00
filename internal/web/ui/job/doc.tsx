// A file of the plan, rendered, with comments on its blocks; or as text to be
// edited.

import { createPortal } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { query, seg } from "../lib/api";
import { useData } from "../lib/data";
import { useKeys } from "../lib/keys";
import type { JobThread } from "../lib/types";
import { Button, Loading } from "../parts/basic";
import type { FileText } from "../parts/files";
import { reviewing, useJob } from "./context";
import { draftOf } from "./drafts";
import { Editor } from "./editor";
import { NewComment, ThreadCard } from "./threads";

export function Doc({ path, missing }: { path: string; missing: string }) {
  const { id, d } = useJob();
  const j = d.job;
  const kept = j.files?.find((f) => f.path === path);
  const data = useData<FileText>(j.commit ? `/api/jobs/${seg(id)}/file` + query({ path, at: j.commit }) : "");
  const [editing, setEditing] = useState(() => !!draftOf(id, path));
  const can = reviewing(j) && !!kept;
  const f = data.value.value;
  useKeys([{ key: "e", what: "edit this file", do: () => can && setEditing(true) }], [can]);

  if (!j.commit || data.error.value?.status === 404) return <p class="empty">{missing}</p>;
  if (!f) return <Loading of={data} />;
  if (editing && can) return <Editor path={path} base={f.file.hash || kept!.hash} text={f.text || ""} onDone={() => setEditing(false)} />;
  return (
    <div class="doc">
      <div class="doc-head">
        <span class="mono muted">{path}</span><span class="grow" />
        {can && <><span class="muted small hint">hover a block, or <kbd>j</kbd> <kbd>k</kbd> and <kbd>c</kbd>, to comment</span><Button small onClick={() => setEditing(true)}>Edit</Button></>}
      </div>
      {f.note && <p class="note">{f.note}</p>}
      <Blocks f={f} path={path} can={can} threads={(j.threads || []).filter((t) => t.path === path)} />
    </div>
  );
}

interface Spot { el: HTMLElement; line: number; end: number }

// Blocks shows rendered text and hangs threads below the blocks they are about.
// The server says with data-l which lines a block comes from.
function Blocks({ f, path, can, threads }: { f: FileText; path: string; can: boolean; threads: JobThread[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [spots, setSpots] = useState<Spot[]>([]);
  const [writing, setWriting] = useState<number>(-1);
  const at = useRef(-1);
  const lines = useMemo(() => (f.text || "").split("\n"), [f.text]);

  useLayoutEffect(() => {
    const el = box.current!;
    if (f.html === undefined) el.textContent = f.text || "";
    else el.innerHTML = f.html; // rendered and cleaned by the server
    setSpots(findSpots(el));
    setWriting(-1);
    at.current = -1;
  }, [f.html, f.text]);

  useEffect(() => {
    if (!can) return;
    spots.forEach((s, i) => {
      const b = document.createElement("button");
      b.type = "button";
      b.className = "add";
      b.textContent = "+";
      b.setAttribute("aria-label", s.line === s.end ? `Comment on line ${s.line}` : `Comment on lines ${s.line} to ${s.end}`);
      b.onclick = () => setWriting(i);
      s.el.classList.add("spot");
      s.el.prepend(b);
    });
    return () => box.current?.querySelectorAll(".add").forEach((b) => b.remove());
  }, [spots, can]);

  const step = (by: number) => {
    if (!spots.length) return;
    spots[at.current]?.el.classList.remove("current");
    at.current = Math.max(0, Math.min(spots.length - 1, at.current + by));
    const el = spots[at.current].el;
    el.classList.add("current");
    el.tabIndex = -1;
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: "center" });
  };
  useKeys([
    { key: "j", what: "next block", do: () => step(1) },
    { key: "k", what: "block before", do: () => step(-1) },
    { key: "c", what: "comment on this block", do: () => can && at.current >= 0 && setWriting(at.current) },
  ], [spots, can]);

  const hung = useMemo(() => hang(spots, threads, lines), [spots, threads, lines]);
  const loose = threads.filter((t) => ![...hung.values()].some((l) => l.some((x) => x.t.id === t.id)));
  const w = spots[writing];
  return (
    <>
      {loose.map((t) => <ThreadCard key={t.id} t={t} showPlace />)}
      <div class={"prose doc-text" + (f.html === undefined ? " plaintext" : "")} ref={box} />
      {[...hung].map(([i, list]) => (
        <Hung key={i + "/" + (f.file.hash || "")} below={spots[i].el}>{list.map(({ t, moved }) => <ThreadCard key={t.id} t={t} moved={moved} />)}</Hung>
      ))}
      {w && can && <Hung key={"new" + writing} below={w.el}><NewComment path={path} line={w.line} end={w.end} quote={lines.slice(w.line - 1, w.end).join("\n")} onDone={() => setWriting(-1)} /></Hung>}
    </>
  );
}

// Hung is shown below an element of rendered text: inside a list item or a cell,
// after anything else.
function Hung({ below, children }: { below: HTMLElement; children: any }) {
  const [el] = useState(() => {
    const d = document.createElement("div");
    d.className = "hung";
    return d;
  });
  useLayoutEffect(() => {
    const cell = below.closest("table");
    if (below.tagName === "LI") below.append(el);
    else (cell || below).after(el);
    return () => el.remove();
  }, [below]);
  return createPortal(children, el);
}

// findSpots are the blocks one can comment on: the innermost ones, of a table its
// rows.
function findSpots(el: HTMLElement): Spot[] {
  const out: Spot[] = [];
  const rows = new Set<Element>();
  el.querySelectorAll<HTMLElement>("[data-l]").forEach((b) => {
    const row = b.closest("tr");
    if (row) {
      if (rows.has(row)) return;
      rows.add(row);
      if (b.tagName === "TR") b = row.querySelector<HTMLElement>("td, th") || b;
    } else if (b.tagName !== "LI" && b.querySelector("[data-l]")) return;
    else if (b.parentElement?.closest("li[data-l]") && b.tagName === "P") return;
    const [first, last] = ((b.dataset.l || row?.dataset.l) ?? "").split("-").map(Number);
    if (first) out.push({ el: b, line: first, end: last || first });
  });
  return out;
}

// hang finds the block for each thread: by what stood there when it was written,
// else by its line.
function hang(spots: Spot[], threads: JobThread[], lines: string[]): Map<number, { t: JobThread; moved: boolean }[]> {
  const out = new Map<number, { t: JobThread; moved: boolean }[]>();
  for (const t of threads) {
    if (!t.line || !spots.length) continue;
    const first = (t.quote || "").split("\n")[0];
    let line = t.line;
    let moved = false;
    if (first.trim() && lines[line - 1] !== first) {
      const found = lines.indexOf(first);
      if (found >= 0) line = found + 1;
      else moved = true;
    }
    let i = spots.findIndex((s) => s.line <= line && line <= s.end);
    if (i < 0) i = Math.max(0, spots.findLastIndex((s) => s.line <= line));
    out.set(i, [...(out.get(i) || []), { t, moved }]);
  }
  return out;
}
