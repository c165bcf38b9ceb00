// A job from its description to its result, all of it in the browser.

import { assert, clean, open, sees, shot, story, until, project } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  await sees(page, "Nothing waits for you.");
  assert.equal(new URL(page.url()).search, "", "the token is not left in the address");

  // Before there is a job the companion helps to word it.
  await page.getByRole("link", { name: "New job" }).last().click();
  await page.getByRole("button", { name: "Talk it over" }).click();
  await page.locator("textarea[aria-label=Message]:focus").waitFor();
  await page.getByLabel("Message").fill("Help me describe it");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Put into the form" }).first().click();
  assert.match(await page.getByLabel("What is to be done").first().inputValue(), /Compare the three offers/);
  assert.equal(await page.getByLabel("Instructions").first().inputValue(), "Cite every number.");

  // Documents come by upload; whether it stops for review is told before.
  await page.getByLabel("Documents").setInputFiles(["atlas", "kestrel", "nordwind"].map((n) => `${project}/offers/${n}.md`));
  await sees(page, /It will wait for you: .*document/);
  await shot(page, "new");
  await page.getByRole("button", { name: "Begin" }).click();

  // It plans by itself and freezes; the page follows.
  await page.getByRole("button", { name: /^Approve revision/ }).waitFor();
  await until("the badge in the title", async () => (await page.title()).startsWith("(1) "));
  await sees(page.getByRole("tabpanel"), "Over how many months are costs compared?"); // a card
  await page.locator(".doc-text h2", { hasText: "Assumptions" }).waitFor();
  await shot(page, "plan");

  // A question is answered; its default would have held.
  const q = page.locator(".question", { hasText: "how many months" });
  await q.getByRole("button", { name: "Answer" }).click();
  await q.getByRole("textbox").fill("24");
  await q.getByRole("button", { name: "Save" }).click();
  await sees(q, "Your answer: 24");

  // A comment on a block.
  const block = page.locator(".doc-text li", { hasText: "Prices are net" });
  await block.hover();
  await block.getByRole("button", { name: /^Comment on line/ }).click();
  await page.getByLabel(/^Comment on plan.md/).fill("Say where that is from.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await sees(block, "Say where that is from.");
  await shot(page, "comment");

  // Memory is rendered, todos are a list that can be edited.
  await page.getByRole("tab", { name: "Memory" }).click();
  await sees(page.locator(".doc-text"), "Nordwind's offer ends first");
  await page.getByRole("tab", { name: /^Todos/ }).click();
  const todos = page.getByRole("tabpanel").getByRole("listitem");
  assert.equal(await todos.count(), 3);
  const second = await page.getByLabel("Todo 2", { exact: true }).inputValue();
  await page.getByRole("button", { name: "Move todo 3 up" }).click();
  assert.equal(await page.getByLabel("Todo 3", { exact: true }).inputValue(), second);
  await page.locator(".grip").nth(2).dragTo(page.locator(".grip").nth(0));
  assert.equal(await page.getByLabel("Todo 1", { exact: true }).inputValue(), second);
  await page.getByRole("checkbox", { name: "Do todo 3" }).uncheck();
  await page.getByRole("button", { name: "Add a todo" }).click();
  await page.getByLabel("Todo 4", { exact: true }).fill("Have the numbers checked");
  await shot(page, "todos");
  await page.getByRole("button", { name: "Save as a new revision" }).click();
  await page.getByRole("button", { name: "Approve revision 2" }).waitFor();

  // The plan is edited as text; the edit is a commit in the person's name.
  await page.getByRole("tab", { name: /^Plan/ }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const text = page.getByLabel("Text of plan.md");
  await text.fill((await text.inputValue()).replace("Talking to the suppliers.", "Talking to the suppliers. Travel."));
  await page.getByRole("button", { name: "Preview" }).click();
  await sees(page.locator(".editor .prose"), "Travel.");
  await page.getByRole("button", { name: "Save as a new revision" }).click();
  await page.getByRole("button", { name: "Approve revision 3" }).waitFor();
  await sees(page.locator(".doc-text"), "Travel.");
  await page.getByRole("tab", { name: "History" }).click();
  await sees(page.getByRole("tabpanel"), "edited by hand: ");
  await shot(page, "history");

  // The companion looks, drafts feedback and proposes an edit; nothing happens by
  // itself.
  const companion = page.getByRole("complementary", { name: "Companion" });
  await companion.getByLabel("Message").fill("Help me word feedback");
  await page.keyboard.press("Enter");
  await sees(companion, "read plan.md");
  await companion.getByRole("button", { name: "Use as feedback" }).click();
  assert.equal(await page.getByLabel("Feedback", { exact: true }).inputValue(), "Name the currency of every amount.");
  await companion.getByLabel("Message").fill("Please propose an edit");
  await page.keyboard.press("Enter");
  await companion.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: "Approve revision 4" }).waitFor();
  await companion.getByText("Tools", { exact: false }).first().click();
  await sees(companion, "read_workspace_file");
  const history = companion.getByRole("checkbox", { name: "Tools: history" });
  assert.ok(await history.isChecked());
  await history.click();
  await companion.getByRole("button", { name: "set by you" }).waitFor();
  assert.equal(await history.isChecked(), false);
  await companion.getByRole("button", { name: "set by you" }).click();
  await until("it is automatic again", () => history.isChecked());
  await shot(page, "companion");

  // Changes are requested; the comment goes along; the gate comes again.
  await sees(page, "1 open comment will go along:");
  await page.getByRole("button", { name: "Send and have it revised" }).click();
  await sees(page, "Round 2");
  await page.getByRole("tab", { name: /^Plan/ }).click();
  await page.getByLabel("changed since last round").check();
  await sees(page, "You asked:");
  await sees(page.getByRole("article"), "addressed");
  await page.locator(".hunk .plus").first().waitFor();
  await shot(page, "changed");

  // Approve names what is approved.
  await page.getByRole("button", { name: /^Approve revision/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^Approve revision/ }).click();
  await page.getByRole("tab", { name: "Progress" }).click();
  await sees(page.getByRole("region", { name: "Result" }), "output/recommendation.md");
  await sees(page, /Approved against what ran|Ran as approved/);
  await shot(page, "result");

  // The result is there, and the companion knows of it.
  await page.getByRole("button", { name: "output/recommendation.md" }).click();
  await sees(page.locator(".file-view"), "Nordwind");
  await companion.getByLabel("Message").fill("What did it cost?");
  await page.keyboard.press("Enter");
  await sees(companion, "looked at the job");
  await sees(companion, "searched the audit");
  await page.getByRole("tab", { name: "Why" }).click();
  await page.locator(".audit-row", { hasText: "model" }).first().click();
  await page.getByRole("button", { name: "What was sent and what came back" }).first().click();
  await sees(page.getByRole("dialog"), "Reply");
  await shot(page, "why");
  await page.keyboard.press("Escape");

  // A correction takes it up again.
  await page.getByRole("tab", { name: "Progress" }).click();
  await page.getByLabel("Correction").fill("Leave Kestrel out.");
  await page.getByRole("button", { name: "Correct and go on" }).click();
  await sees(page, /revising|correction|planning|review/);
  clean(page);
});
