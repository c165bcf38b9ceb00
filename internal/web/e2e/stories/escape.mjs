// Two ways out of a review: run without any more of it, or end the job.

import { assert, clean, newJob, open, sees, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const job = async (id) => (await (await page.request.get(server.origin + "/api/jobs/" + id)).json()).job;

  const one = await newJob(page, server);
  await page.goto(server.origin + "/jobs/" + one);
  await page.getByRole("button", { name: "Skip review and run" }).click();
  await sees(page.getByRole("dialog"), "does not stop for review again");
  await page.getByRole("dialog").getByRole("button", { name: "Run without review" }).click();
  await until("it is complete", async () => (await job(one)).state === "completed");
  assert.equal((await job(one)).rounds[0].choice, "skip");

  const other = await newJob(page, server);
  await page.goto(server.origin + "/jobs/" + other);
  await page.getByRole("button", { name: "Cancel job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  assert.equal((await job(other)).state, "review", "nothing was decided");
  await page.getByRole("button", { name: "Cancel job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the job" }).click();
  await until("it is cancelled", async () => (await job(other)).state === "cancelled");
  await page.getByRole("button", { name: /^Approve/ }).waitFor({ state: "detached" });
  await shot(page, "cancelled");
  clean(page);
});
