// A review with the keyboard alone; every page on narrow screens and in the dark,
// with names on everything that can be used.

import { assert, clean, newJob, open, sees, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);
  const id = await newJob(page, server);

  // From home to a decision without a mouse.
  await page.goto(server.origin + "/");
  await page.locator("a.row").first().waitFor();
  await page.keyboard.press("j");
  await page.locator("a.row:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Approve revision 1" }).waitFor();
  await page.locator(".spot").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.type("Said with keys");
  await page.keyboard.press("Control+Enter");
  await sees(page.locator(".thread"), "Said with keys");
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("?");
  await sees(page.getByRole("dialog", { name: "Keys" }), "comment on this block");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("2");
  await page.getByRole("tab", { name: /^Todos/, selected: true }).waitFor();
  await page.keyboard.press("a");
  await sees(page.getByRole("dialog"), "1 comment is open");
  await shot(page, "keys");
  await page.locator("dialog button:focus").waitFor();
  await page.keyboard.press("Enter"); // the dialog's first button has the focus
  await until("it goes on", async () => (await (await page.request.get(server.origin + "/api/jobs/" + id)).json()).job?.state === "completed");

  const places = ["/", "/new", "/settings", "/audit/" + id, ...["plan", "todos", "memory", "files?path=plan.md", "history", "why", "progress"].map((t) => `/jobs/${id}/${t}`)];
  for (const [width, colorScheme] of [[360, "dark"], [820, "light"], [1280, "dark"]]) {
    await page.setViewportSize({ width, height: 760 });
    await page.emulateMedia({ colorScheme });
    for (const p of places) {
      await page.goto(server.origin + p);
      await page.locator("main h1").first().waitFor();
      await until("what the page shows is there", async () => (await page.getByText("Loading").count()) === 0);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${p} is ${wide} px too wide at ${width}`);
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll("button, a, input:not([type=file]), textarea, select, dialog, [role=tabpanel]")]
          .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.title))
          .map((e) => e.outerHTML.slice(0, 120)));
      assert.deepEqual(nameless, [], `${p} has things without a name`);
      assert.equal(await page.locator("main").count(), 1);
      if (width !== 820) await shot(page, `${width}-${p.replace(/\W+/g, "-")}`);
    }
  }
  const colours = async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  };
  assert.notEqual(await colours("dark"), await colours("light"));
  await page.keyboard.press("t"); // dark, whatever the system says
  assert.equal(await colours("light"), await colours("dark"));
  clean(page);
});
