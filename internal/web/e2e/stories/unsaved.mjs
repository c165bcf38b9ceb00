// What was changed and not saved is not lost by looking elsewhere, and nobody
// approves a plan without it unawares.

import { assert, clean, newJob, open, sees, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const id = await newJob(page, server);
  const tab = (name) => page.getByRole("tab", { name });

  // A todo is unticked, then somebody looks at the plan and comes back.
  await page.goto(server.origin + "/jobs/" + id + "/todos");
  await page.getByRole("checkbox", { name: "Do todo 2" }).uncheck();
  await tab(/^Plan/).click();
  await tab(/^Todos.*unsaved/).waitFor();
  await tab(/^Todos/).click();
  assert.equal(await page.getByRole("checkbox", { name: "Do todo 2" }).isChecked(), false);

  // Likewise text that is being written.
  await tab(/^Plan/).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const text = page.getByLabel("Text of plan.md");
  await text.fill("# Goal\n\nAnother plan.\n");
  await tab("Memory").click();
  await tab(/^Plan.*unsaved/).click();
  assert.equal(await text.inputValue(), "# Goal\n\nAnother plan.\n");

  // Leaving asks.
  page.removeAllListeners("dialog");
  const asked = new Promise((done) => page.once("dialog", (d) => (done(d.type()), d.dismiss())));
  await page.reload({ timeout: 2000 }).catch(() => {});
  assert.equal(await asked, "beforeunload");

  // Approving asks to save first, and then is about the revision that has it.
  await page.getByRole("button", { name: "Approve revision 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Save your changes first" });
  await sees(dialog, "todos.yaml and plan.md");
  await shot(page, "unsaved");
  await dialog.getByRole("button", { name: "Save as a new revision" }).click();
  await page.getByRole("button", { name: "Approve revision 3" }).waitFor();
  assert.equal(await tab(/unsaved/).count(), 0);
  const now = await (await page.request.get(server.origin + "/api/jobs/" + id)).json();
  assert.equal(now.job.staged[1].skip, true);
  await tab(/^Todos/).click();
  assert.equal(await page.getByRole("checkbox", { name: "Do todo 2" }).isChecked(), false);

  // Feedback is kept when its box is closed and when the page goes, however soon.
  const draft = async () => (await (await page.request.get(server.origin + "/api/jobs/" + id)).json()).job.draft;
  await page.getByRole("button", { name: "Request changes" }).click();
  await page.getByLabel("Feedback", { exact: true }).fill("Closed at once");
  await page.getByRole("region", { name: "Request changes" }).getByRole("button", { name: "Close" }).click();
  await until("a closed box is kept", async () => (await draft()) === "Closed at once");
  await page.getByRole("button", { name: "Request changes" }).click();
  await page.getByLabel("Feedback", { exact: true }).fill("Gone at once");
  await page.goto("about:blank");
  await until("a page that went is kept", async () => (await draft()) === "Gone at once");
  clean(page);
});
