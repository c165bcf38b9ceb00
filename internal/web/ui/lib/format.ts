// Words for amounts and times.

export function money(micro?: number): string {
  const d = (micro || 0) / 1e6;
  return d !== 0 && Math.abs(d) < 0.01 ? "$" + d.toFixed(4) : "$" + d.toFixed(2);
}

export function tokens(n?: number): string {
  const v = n || 0;
  if (v < 1000) return String(v);
  if (v < 1e6) return (v / 1000).toFixed(v < 1e4 ? 1 : 0) + "k";
  return (v / 1e6).toFixed(1) + "M";
}

// spent is what something has cost so far: where nothing has a price, in tokens.
export function spent(c?: { usd?: number; tokens: number; text: string }): string {
  return c ? (c.usd ? c.text : tokens(c.tokens) + " tokens") : "";
}

export function bytes(n?: number): string {
  const v = n || 0;
  if (v < 1024) return v + " B";
  if (v < 1 << 20) return (v / 1024).toFixed(v < 10240 ? 1 : 0) + " kB";
  return (v / (1 << 20)).toFixed(1) + " MB";
}

export function ago(at?: string, now = Date.now()): string {
  if (!at) return "";
  const s = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (s < 10) return "just now";
  if (s < 60) return s + " s ago";
  if (s < 3600) return Math.floor(s / 60) + " min ago";
  if (s < 86400) return Math.floor(s / 3600) + " h ago";
  if (s < 30 * 86400) return Math.floor(s / 86400) + " d ago";
  return new Date(at).toLocaleDateString();
}

// left is how long it is until then.
export function left(at?: string, now = Date.now()): string {
  const s = at ? Math.round((Date.parse(at) - now) / 1000) : 0;
  if (s <= 0) return "no time left";
  return (s < 60 ? s + " s" : s < 5400 ? Math.round(s / 60) + " min" : Math.round(s / 3600) + " h") + " left";
}

export function clock(at?: string): string {
  return at ? new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }) : "";
}

// span shortens a duration as Go writes it: "1h2m3.456s".
export function span(d?: string): string {
  if (!d) return "";
  const m = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(d);
  if (!m) return /^[\d.]+(ms|µs|ns)$/.test(d) ? "under 1 s" : d;
  const h = +(m[1] || 0), min = +(m[2] || 0), s = Math.round(+(m[3] || 0));
  if (h) return h + " h " + min + " min";
  if (min) return min + " min " + s + " s";
  return s + " s";
}

export function between(a?: string, b?: string, now = Date.now()): string {
  if (!a) return "";
  const s = Math.max(0, Math.round(((b ? Date.parse(b) : now) - Date.parse(a)) / 1000));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
  return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
}

export const short = (commit?: string) => (commit || "").slice(0, 8);
export const plural = (n: number, one: string, many = one + "s") => n + " " + (n === 1 ? one : many);
export function firstLine(s?: string, max = 120): string {
  const l = (s || "").trim().split("\n")[0];
  return l.length > max ? l.slice(0, max - 1) + "…" : l;
}
