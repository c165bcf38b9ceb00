// A conversation, the run that comes of it, and what is seen of both.

import { assert, clean, open, sees, shot, story } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  await page.getByRole("button", { name: "New session" }).click();
  await page.keyboard.type("n"); // is no key of the page any more, wherever it goes
  await page.locator("textarea[aria-label=Message]:focus").waitFor();
  assert.match(page.url(), /\/sessions\//);
  await page.getByLabel("Message").fill("Hello");
  await page.keyboard.press("Enter");
  await sees(page.locator(".bubble.agent"), "built-in demo");
  await page.getByLabel("Message").fill("Which sorting algorithm should I use for nearly sorted data?");
  await page.keyboard.press("Enter");

  // The run waits for approval where it was proposed.
  const gate = page.locator(".gate");
  await gate.waitFor();
  await shot(page, "gate");
  await gate.getByRole("button").first().click();
  await page.getByRole("link", { name: "open the run" }).first().waitFor();
  await sees(page.locator(".bubble.agent").last(), /carried the day|In short/);
  await shot(page, "session");

  await page.getByRole("link", { name: "open the run" }).first().click();
  await sees(page, "winner");
  for (const who of ["agent1", "agent2", "agent3"]) await page.getByRole("region", { name: who }).waitFor();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await sees(page.locator(".timeline"), "run started");
  await page.getByRole("tab", { name: /^Answers/ }).click();
  await page.getByRole("article").nth(1).waitFor();
  assert.ok((await page.getByRole("article").count()) >= 2, "answers stand side by side");
  await shot(page, "answers");
  await page.getByRole("tab", { name: /^Votes/ }).click();
  await sees(page, /Decided by/);
  await page.getByRole("tab", { name: "Cost" }).click();
  await sees(page.locator("table"), "all");
  await page.getByRole("tab", { name: "Result" }).click();
  await page.locator(".prose").first().waitFor();
  await shot(page, "run");

  // Home finds both by what they are about.
  await page.goto(server.origin + "/");
  await page.getByLabel("Search").fill("sorting");
  await page.locator("a.row", { hasText: "sorting" }).first().waitFor();
  await shot(page, "home");

  // What is not there is said so, with a way out.
  await page.goto(server.origin + "/jobs/nope");
  await sees(page, 'There is no job "nope" here.');
  await page.getByRole("main").getByRole("link", { name: "Home" }).click();
  await page.getByRole("button", { name: "New session" }).waitFor();
  clean(page);
});
