// Keys that do something on a page, wherever nobody is writing.

import { useEffect } from "preact/hooks";

export interface Key { key: string; what: string; do: (e: KeyboardEvent) => void }

const layers: Key[][] = [];

export const allKeys = () => layers.flat();

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  const t = e.target as HTMLElement;
  if (t.closest?.("input, textarea, select, [contenteditable], dialog")) return;
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
