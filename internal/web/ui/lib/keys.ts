// Keys that do something on a page, wherever nobody is writing.

import { useEffect } from "preact/hooks";

export interface Key { key: string; what: string; do: (e: KeyboardEvent) => void }

const layers: Key[][] = [];

export const allKeys = () => layers.flat();

// quiet is while something is on its way in which a person will write: what they
// type meanwhile is not meant as keys.
let quiet = 0;
export async function opening<T>(f: () => Promise<T>): Promise<T> {
  quiet++;
  try {
    return await f();
  } finally {
    setTimeout(() => quiet--, 1500); // until it is shown
  }
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || quiet > 0) return;
  const t = e.target as HTMLElement;
  if (t.closest?.("input, textarea, select, [contenteditable], dialog") || document.querySelector("dialog[open]")) return;
  for (let i = layers.length - 1; i >= 0; i--) {
    const k = layers[i].find((k) => k.key === e.key);
    if (k) {
      e.preventDefault();
      k.do(e);
      return;
    }
  }
});

// useKeys has keys while the component is shown.
export function useKeys(keys: Key[], deps: unknown[] = []) {
  useEffect(() => {
    layers.push(keys);
    return () => {
      layers.splice(layers.indexOf(keys), 1);
    };
  }, deps);
}
