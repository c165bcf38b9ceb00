// A team asks people twice: a member whether it may write a file, and the team how to
// go on when its leader does not know. Both are asked on its page, and said on home.

import { assert, clean, open, sees, shot, story } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const r = await page.request.post(server.origin + "/api/teams", { data: { team: "wary.yaml", task: "A page about bread", key: "k" }, headers: { Origin: server.origin } });
  assert.equal(r.status(), 201, await r.text());
  const { id } = await r.json();
  await sees(page.getByRole("region", { name: "Needs you" }), "A page about bread");
  await page.goto(server.origin + "/teams/" + id);

  // What exactly is to be allowed is there to be read.
  const permission = page.getByRole("region", { name: /^May worker use write/ });
  await sees(permission, "index.html");
  assert.match(await permission.locator("pre").textContent(), /members\/worker\/index\.html\n[^]*\n.*"<h1>Bread<\/h1>\\n"/, "to the letter, line by line");
  const worker = page.getByRole("group", { name: "Members" }).getByRole("region", { name: "worker", exact: true });
  await sees(worker, "asks you");
  await shot(page, "permission");
  await narrow(page, "permission-narrow");
  await permission.getByRole("button", { name: /once/i }).click();
  await permission.waitFor({ state: "detached" });

  // What is said with the answer is told to the leader.
  const trouble = page.getByRole("region", { name: /^The team cannot go on by itself/ });
  await sees(trouble, "told to the leader");
  await sees(page.locator(".team-head"), "needs your help");
  await shot(page, "trouble");
  await narrow(page, "trouble-narrow");
  await trouble.getByLabel("What you want to say with it").fill("That will do");
  await trouble.getByRole("button", { name: /go on/ }).click();
  await trouble.waitFor({ state: "detached" });
  await sees(page.locator(".team-head"), "success");
  await sees(page.getByRole("log", { name: "What happens" }), "They said: That will do");
  await shot(page, "over");
  clean(page);
});

// narrow looks whether the page fits a telephone.
async function narrow(page, name) {
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} px too wide`);
  await shot(page, name);
  await page.setViewportSize({ width, height });
}
