// Where the tab is. Addresses are paths, so that they can be passed on.

import { signal } from "@preact/signals";

export interface Place { path: string[]; q: URLSearchParams }

// plain is a part of an address without its escapes; one that is none stays as it is.
function plain(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const read = (): Place => ({
  path: location.pathname.split("/").filter(Boolean).map(plain),
  q: new URLSearchParams(location.search),
});

export const place = signal<Place>(read());
addEventListener("popstate", () => (place.value = read()));

export function go(to: string, replace = false) {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  const before = place.value.path.slice(0, 2).join("/");
  place.value = read();
  if (place.value.path.slice(0, 2).join("/") !== before) {
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

// Links of our own are followed without leaving the page.
document.addEventListener("click", (e) => {
  const a = (e.target as Element)?.closest?.("a");
  if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || a.target || a.hasAttribute("download")) return;
  if (a.origin !== location.origin || a.pathname.startsWith("/api/")) return;
  if (a.getAttribute("href")?.startsWith("#")) return;
  e.preventDefault();
  go(a.pathname + a.search);
});

export const to = {
  job: (id: string, tab = "", q = "") => "/jobs/" + encodeURIComponent(id) + (tab ? "/" + tab : "") + q,
  team: (id: string, tab = "", q = "") => "/teams/" + encodeURIComponent(id) + (tab ? "/" + tab : "") + q,
  session: (id: string) => "/sessions/" + encodeURIComponent(id),
  run: (id: string, tab = "") => "/runs/" + encodeURIComponent(id) + (tab ? "/" + tab : ""),
  audit: (id: string, seq?: number) => "/audit/" + encodeURIComponent(id) + (seq ? "?seq=" + seq : ""),
  row: (r: { kind: string; id: string }) => (r.kind === "job" ? to.job(r.id) : r.kind === "team" ? to.team(r.id) : r.kind === "session" ? to.session(r.id) : to.run(r.id)),
};
