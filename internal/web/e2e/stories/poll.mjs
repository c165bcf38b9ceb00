// Where no stream can be had, the page asks every few seconds, and takes the
// stream up again once it can.

import { assert, clean, newJob, open, sees, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const id = await newJob(page, server);
  let blocked = true;
  await c.route("**/api/events*", (r) => (blocked ? r.abort() : r.continue()));
  await page.clock.install(); // goes on by itself, and may be hurried
  await page.goto(server.origin + "/jobs/" + id);
  await page.getByRole("button", { name: "Approve revision 1" }).waitFor();
  const hears = () => page.locator("main").getAttribute("data-hears");
  await until("the page asks", async () => (await hears()) === "poll");
  const say = async (text, key) => {
    const r = await page.request.post(server.origin + "/api/jobs/" + id + "/comments", { data: { path: "plan.md", line: 1, end: 1, text, key }, headers: { Origin: server.origin } });
    assert.ok(r.ok(), await r.text());
  };
  await say("Heard without a stream", "a");
  await hurried("it is heard", () => page.getByText("Heard without a stream").isVisible());
  blocked = false;
  await hurried("the page hears", async () => (await hears()) === "stream");
  await say("Heard on the stream", "b");
  await sees(page, "Heard on the stream");
  page.troubles = page.troubles.filter((t) => !t.includes("net::ERR_FAILED"));
  clean(page);

  function hurried(what, f) {
    return until(what, async () => {
      await page.clock.fastForward(3100);
      return f();
    });
  }
});
