// Seven tabs on one job: a browser has six connections to a server, and hidden
// tabs give theirs back.

import { assert, clean, newJob, open, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const first = await open(c, server);
  const id = await newJob(first, server);
  const hears = (p) => p.locator("main").getAttribute("data-hears");
  const pages = [];
  for (let i = 0; i < 7; i++) {
    const p = await c.newPage();
    await p.clock.install();
    await p.goto(server.origin + "/jobs/" + id);
    await p.getByRole("button", { name: "Approve revision 1" }).waitFor();
    await p.clock.runFor(200);
    await until("the tab hears", async () => (await hears(p)) === "stream");
    if (i < 6) {
      // As when another tab comes to the front.
      await p.evaluate(() => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
        document.dispatchEvent(new Event("visibilitychange"));
      });
      await p.clock.fastForward(31_000);
      await until("the tab sleeps", async () => (await hears(p)) === "asleep");
    }
    pages.push(p);
  }
  const last = pages[6];
  assert.equal(await hears(last), "stream");

  // Something happens; the tab that is looked at shows it, the others once they
  // are looked at again.
  const r = await first.request.post(server.origin + "/api/jobs/" + id + "/comments", { data: { path: "plan.md", line: 1, end: 1, quote: "", text: "Seen in all tabs", key: "k" }, headers: { Origin: server.origin } });
  assert.ok(r.status() < 300, await r.text());
  await last.clock.runFor(1000);
  await last.getByText("Seen in all tabs").waitFor();
  await pages[0].evaluate(() => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await until("the first tab has it", async () => {
    await pages[0].clock.runFor(500);
    return pages[0].getByText("Seen in all tabs").isVisible();
  });
  await shot(last, "seven");
  clean(first);
});
