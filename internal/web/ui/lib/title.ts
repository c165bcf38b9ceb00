// What the tab is called.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const title = signal("");

export function useTitle(s: string) {
  useEffect(() => {
    title.value = s;
    return () => {
      title.value = "";
    };
  }, [s]);
}
