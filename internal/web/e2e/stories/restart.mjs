// The server is killed under an open page and started again: the page says so,
// loses nothing that was written, and goes on by itself.

import { assert, clean, newJob, open, sees, shot, story } from "./lib.mjs";

await story(async ({ server, c, again }) => {
  const page = await open(c, server);
  const id = await newJob(page, server);
  await page.goto(server.origin + "/jobs/" + id);
  await page.getByRole("button", { name: "Request changes" }).click();
  await page.getByLabel("Feedback", { exact: true }).fill("Half a sentence");
  await server.kill();
  await sees(page, "The server does not answer.");
  await page.getByLabel("Feedback", { exact: true }).fill("Half a sentence, and the rest of it.");
  await page.getByRole("tab", { name: "History" }).click();
  await shot(page, "away");
  const now = await again();
  assert.equal(now.origin, server.origin, "it is served at the same address again");
  await page.getByText("The server does not answer.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "diff", exact: true }).first().waitFor(); // what was asked for meanwhile
  await page.getByRole("tab", { name: "Plan" }).click();
  assert.equal(await page.getByLabel("Feedback", { exact: true }).inputValue(), "Half a sentence, and the rest of it.");

  // Nobody has to log in again, the job is frozen as before, and the page is live.
  await page.getByRole("button", { name: "Send and have it revised" }).click();
  await sees(page, "Round 2");
  await page.getByRole("button", { name: /^Approve revision/ }).waitFor();

  // What is being written is on the server: another tab finds it.
  await page.getByRole("button", { name: "Request changes" }).click();
  await page.getByLabel("Feedback", { exact: true }).fill("A draft for later");
  await page.waitForResponse((r) => r.url().endsWith("/draft") && r.ok());
  const other = await open(c, now, "/jobs/" + id);
  await other.getByRole("button", { name: "Request changes" }).click();
  await sees(other, "what you write is kept");
  await other.waitForFunction(() => document.querySelector("textarea[aria-label=Feedback]").value === "A draft for later");
  clean(page);
  clean(other);
});
