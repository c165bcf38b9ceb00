// How files differ.

import { useMemo } from "preact/hooks";

interface Line { op: string; text: string; parts?: { text: string; mark?: boolean }[] }
interface Hunk { old: number; new: number; lines: Line[] }
export interface FileDiff { path: string; old?: string; kind: string; binary?: boolean; more?: boolean; hunks?: Hunk[] }

const names: Record<string, string> = { added: "new file", deleted: "deleted", renamed: "renamed", changed: "" };

export function Diff({ files, empty = "Nothing changed." }: { files?: FileDiff[]; empty?: string }) {
  if (!files?.length) return <p class="muted">{empty}</p>;
  return <div class="diffs">{files.map((f) => <OneFile key={f.path} f={f} />)}</div>;
}

function OneFile({ f }: { f: FileDiff }) {
  const [plus, minus] = useMemo(() => {
    let p = 0, m = 0;
    f.hunks?.forEach((h) => h.lines.forEach((l) => (l.op === "+" ? p++ : l.op === "-" ? m++ : 0)));
    return [p, m];
  }, [f]);
  return (
    <details class="diff" open>
      <summary>
        <span class="mono">{f.old && f.old !== f.path ? f.old + " → " + f.path : f.path}</span>
        <span class="muted"> {names[f.kind] ?? f.kind}</span>
        <span class="sums"><ins>+{plus}</ins> <del>−{minus}</del></span>
      </summary>
      {f.binary && <p class="muted pad">Not text.</p>}
      {f.hunks?.map((h, i) => <HunkTable key={i} h={h} />)}
      {f.more && <p class="muted pad">There is more than is shown.</p>}
    </details>
  );
}

function HunkTable({ h }: { h: Hunk }) {
  let o = h.old, n = h.new;
  return (
    <table class="hunk"><tbody>
      {h.lines.map((l, i) => {
        const a = l.op === "+" ? "" : o++;
        const b = l.op === "-" ? "" : n++;
        return (
          <tr key={i} class={l.op === "+" ? "plus" : l.op === "-" ? "minus" : ""}>
            <td class="no">{a}</td><td class="no">{b}</td>
            <td class="op" aria-label={l.op === "+" ? "added" : l.op === "-" ? "removed" : undefined}>{l.op}</td>
            <td class="text">{l.parts ? l.parts.map((p, j) => (p.mark ? <mark key={j}>{p.text}</mark> : p.text)) : l.text}</td>
          </tr>
        );
      })}
    </tbody></table>
  );
}
