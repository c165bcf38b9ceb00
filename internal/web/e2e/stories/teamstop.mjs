// A team is spoken to while it works, and what becomes of that is seen. Then it is
// stopped in the middle: a member first, then everybody; both ask before they do it,
// and nothing goes on afterwards.

import { assert, clean, open, sees, shot, spills, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const r = await page.request.post(server.origin + "/api/teams", { data: { team: "slow.yaml", task: "Wait until you are stopped", key: "k" }, headers: { Origin: server.origin } });
  assert.equal(r.status(), 201, await r.text());
  const { id } = await r.json();
  await page.goto(server.origin + "/teams/" + id);
  const members = page.getByRole("group", { name: "Members" });
  const worker = members.getByRole("region", { name: "worker", exact: true });
  await sees(worker, "working");

  // Written to while it is busy: queued, and taken back before it is told.
  await worker.getByRole("button", { name: "Write to worker" }).click();
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.type("Never mind");
  await page.keyboard.press("Enter");
  const sent = page.getByRole("group", { name: "What you said" });
  await sees(sent, "queued");
  await sees(worker, "1 queued");
  for (const width of [360, 400, 820, 1280]) assert.deepEqual(await spills(page, width, ".banner-card"), [], `out of the banners at ${width}`);
  await sent.getByRole("button", { name: "Take back" }).click();
  await sees(sent, "taken back");

  // The leader waits, so it is set to work with what a person says.
  await page.getByLabel("To", { exact: true }).selectOption("leader");
  await page.getByLabel("Message to leader").fill("How is it going?");
  await page.getByRole("button", { name: "Send" }).click();
  await sees(sent, "delivered in turn 2");
  await sees(page.getByRole("article", { name: "you to leader" }).last(), "How is it going?");
  await shot(page, "said");

  await worker.getByRole("button", { name: "Stop worker" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await worker.getByRole("button", { name: "Stop worker" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop worker" }).click();
  await sees(worker, "stopped");
  await shot(page, "lost");

  await page.getByRole("button", { name: "Stop team" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop the team" }).click();
  await sees(page.locator(".team-head"), "cancelled");
  await until("nobody drives it", async () => !(await (await page.request.get(server.origin + "/api/teams/" + id)).json()).driver);
  await page.getByRole("region", { name: "Write to the team" }).waitFor({ state: "detached" });
  await shot(page, "stopped");

  // Whoever was stopped has not done its part.
  await sees(members.getByRole("region", { name: "leader", exact: true }), "took ");

  // What was begun is left undone; what nobody began did not fail.
  const phases = page.getByRole("list", { name: "Phases" });
  assert.deepEqual(await phases.locator("li").evaluateAll((all) => all.map((e) => e.textContent)), ["✗Work: left undone0/1", "Praise: not begun"]);
  clean(page);
});
