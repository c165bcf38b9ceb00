// What the stories have in common: a server, a browser, and ways to say what is
// expected.

import { spawn, execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import assert from "node:assert/strict";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
export { assert };
export const project = process.env.PROJECT;
const patience = 30_000;

// serve starts the cockpit; the same project is served at the same address again.
export async function serve() {
  const config = process.env.CONFIG ?? "team.yaml"; // empty: what is begun says who takes part
  const child = spawn(process.env.CONCLAVE, ["serve", ...(config ? ["--config", config] : [])], { cwd: project, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done, fail) => {
    let out = "";
    child.stdout.on("data", (d) => {
      out += d;
      const m = /http:\/\/\S+/.exec(out);
      if (m) done(m[0]);
    });
    child.on("exit", (code) => fail(new Error("serve ended with " + code + ": " + out)));
  });
  const gone = new Promise((done) => child.on("exit", done));
  return {
    url,
    origin: new URL(url).origin,
    kill: () => (child.kill("SIGKILL"), gone),
    stop: () => (child.kill("SIGTERM"), gone),
  };
}

// conclave runs the program in a terminal, so to speak.
export function conclave(...args) {
  return execFileSync(process.env.CONCLAVE, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export async function browser(options = {}) {
  const b = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const c = await b.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  c.setDefaultTimeout(patience);
  return { b, c };
}

// open gives a page of the cockpit in which nothing may go wrong unseen.
export async function open(c, server, path = "/") {
  const page = await c.newPage();
  page.troubles = [];
  page.foreign = [];
  page.on("pageerror", (e) => page.troubles.push(String(e)));
  page.on("console", (m) => m.type() === "error" && !/status of (4|5)|net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(m.text()) && page.troubles.push(m.text()));
  page.on("request", (r) => !r.url().startsWith(server.origin) && !r.url().startsWith("data:") && page.foreign.push(r.url()));
  page.on("dialog", (d) => (page.troubles.push("dialog: " + d.message()), d.dismiss()));
  await page.goto(server.url);
  if (path !== "/") await page.goto(server.origin + path);
  return page;
}

export function clean(page) {
  assert.deepEqual(page.troubles, [], "something went wrong in the page");
  assert.deepEqual(page.foreign, [], "something was asked of another server");
}

export const sees = (page, text, options = {}) => page.getByText(text, options).first().waitFor({ timeout: patience });

// until waits for something that comes by itself.
export async function until(what, f) {
  const end = Date.now() + patience;
  for (;;) {
    const v = await f();
    if (v) return v;
    if (Date.now() > end) throw new Error("it never came to this: " + what);
    await new Promise((r) => setTimeout(r, 50));
  }
}

// spills is what sticks out of the boxes it is in, at a width of the window.
export async function spills(page, width, boxes) {
  const { width: was, height } = page.viewportSize();
  await page.setViewportSize({ width, height });
  const out = await page.evaluate((boxes) => [...document.querySelectorAll(boxes)].flatMap((box) => {
    const edge = Math.min(box.getBoundingClientRect().right, innerWidth);
    return [...box.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > edge + 0.5).map((e) => (e.getAttribute("aria-label") || e.className) + " in " + box.getAttribute("aria-label"));
  }), boxes);
  await page.setViewportSize({ width: was, height });
  return out;
}

let n = 0;
const began = Date.now();
export const told = (what) => console.log(`${((Date.now() - began) / 1000).toFixed(1)} s ${what}`);
export async function shot(page, name) {
  told(name);
  mkdirSync(project + "/shots", { recursive: true });
  await page.screenshot({ path: `${project}/shots/${String(++n).padStart(2, "0")}-${name}.png` });
}

// newJob begins a job from the terminal and waits until it stops for review.
export async function newJob(page, server, ...more) {
  const out = JSON.parse(conclave("job", "new", "--config", "team.yaml", "--json", "-d", "Compare the three offers and draft a recommendation", "--doc", "offers", ...more).trim().split("\n").pop());
  const id = out.id || out.job || out.job_id;
  await until("the job waits for review", async () => (await (await page.request.get(server.origin + "/api/jobs/" + id)).json()).job?.state === "review");
  return id;
}

// story plays and leaves nothing behind.
export async function story(play, options) {
  const server = { now: await serve() };
  const { b, c } = await browser(options);
  try {
    await play({ server: server.now, c, again: async () => (server.now = await serve()) });
  } catch (e) {
    for (const [i, p] of c.pages().entries()) await shot(p, "failed-" + i).catch(() => {});
    throw e;
  } finally {
    told("played");
    await b.close();
    told("closed");
    await server.now.stop();
    told("stopped");
  }
}
