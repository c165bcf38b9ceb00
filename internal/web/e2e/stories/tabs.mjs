// Two tabs and a terminal on one job: what one does the others see, and only one
// decision is made.

import { assert, clean, conclave, newJob, open, project, sees, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const a = await open(c, server);
  const id = await newJob(a, server);
  await a.goto(server.origin + "/jobs/" + id);
  const b = await open(c, server, "/jobs/" + id);
  await a.getByRole("button", { name: "Approve revision 1" }).waitFor();
  await b.getByRole("button", { name: "Approve revision 1" }).waitFor();

  // b is about to approve revision 1 and has begun to edit; a saves an edit: b is
  // told, and what it does is about a revision that is no more.
  await b.getByRole("button", { name: "Edit", exact: true }).click();
  const text = b.getByLabel("Text of plan.md");
  await text.fill((await text.inputValue()) + "\nFrom the second tab.\n");
  await a.getByRole("button", { name: "Edit", exact: true }).click();
  const other = a.getByLabel("Text of plan.md");
  await other.fill((await other.inputValue()) + "\nFrom the first tab.\n");
  await b.keyboard.press("Escape");
  await b.getByRole("button", { name: "Approve revision 1" }).click();
  const dialog = b.getByRole("dialog");
  await a.getByRole("button", { name: "Save as a new revision" }).click();
  await a.getByRole("button", { name: "Approve revision 2" }).waitFor();
  await sees(dialog, "it is at revision 2 now");
  assert.ok(await dialog.getByRole("button", { name: /^Approve revision 1/ }).isDisabled());
  await dialog.getByRole("button", { name: "Back" }).click();

  // What b wrote is not lost: both versions are shown, and b decides.
  await b.getByRole("button", { name: "Save as a new revision" }).click();
  await sees(b.getByRole("alert"), "has changed since you began");
  await sees(b.getByRole("alert"), "From the first tab.");
  assert.match(await text.inputValue(), /From the second tab/);
  await shot(b, "conflict");
  await b.getByRole("button", { name: "Save mine over it" }).click();
  await a.getByRole("button", { name: "Approve revision 3" }).waitFor();
  await sees(a.locator(".doc-text"), "From the second tab.");

  // The terminal shows the same gate, and refuses what is stale.
  assert.match(conclave("job", "review", id), /revision 3/);

  // Both tabs click at once, one of them twice: one decision.
  for (const p of [a, b]) await p.getByRole("button", { name: "Approve revision 3" }).click();
  const yes = (p) => p.getByRole("dialog").getByRole("button", { name: /^Approve revision 3/ });
  await Promise.all([yes(a).dblclick({ noWaitAfter: true, force: true }).catch(() => {}), yes(b).click({ force: true }).catch(() => {})]);
  await until("the job is complete", async () => (await (await a.request.get(server.origin + "/api/jobs/" + id)).json()).job?.state === "completed");
  const job = (await (await a.request.get(server.origin + "/api/jobs/" + id)).json()).job;
  assert.equal(job.rounds.length, 1);
  assert.equal(job.rounds[0].choice, "approve");
  assert.equal(job.phases.filter((p) => p.kind === "tactical").length, 1);
  assert.match(conclave("job", "show", id), /complete/);

  // A click that comes too late changes nothing and says so.
  const late = await a.request.post(server.origin + "/api/jobs/" + id + "/review", { data: { choice: "approve", revision: 3, key: "late" }, headers: { Origin: server.origin } });
  assert.ok([409, 422].includes(late.status()), "a late click is answered " + late.status());
  void project;
  clean(a);
  clean(b);
});
