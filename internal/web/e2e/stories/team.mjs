// A team from its beginning to its result: chosen and begun in the browser, watched
// while its members work, heard over a stream that is cut, and read at the end.

import { assert, clean, open, sees, shot, story, until } from "./lib.mjs";

await story(async ({ server, c }) => {
  const page = await open(c, server);

  // Chosen on home, with a task.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "New team" }).click();
  await page.getByLabel("What is to be done").fill("A landing page for a bakery");
  const product = page.getByRole("radio", { name: /product/i });
  await until("the product team is chosen", () => product.isChecked());
  await page.getByRole("radio", { name: /bug/i }).check();
  assert.ok(!/bakery/.test(await page.getByLabel("What is to be done").getAttribute("placeholder")), "what is suggested is for the team that is chosen");
  await product.check();
  await shot(page, "new");
  await page.getByRole("button", { name: "Begin" }).click();
  await page.waitForURL(/\/teams\/team-/);
  const id = decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
  const team = async () => (await page.request.get(server.origin + "/api/teams/" + id)).json();

  // SR-04: a stream beside the page, cut again and again and taken up with
  // Last-Event-ID, tells every event of all the turns once.
  const heard = listen(page, server, id);

  // SR-05: a banner for everybody, with face, role and state.
  const members = page.getByRole("group", { name: "Members" });
  await members.getByRole("region", { name: "leader", exact: true }).waitFor();
  await members.getByRole("region", { name: /^(pm|product-manager)/ }).waitFor();
  await shot(page, "begun");

  // The whole pipeline, in one session.
  await until("the team is done", async () => (await team()).over);
  await sees(page.locator(".team-head"), "success");
  const done = await team();
  assert.equal(done.team.ended.status, "success", JSON.stringify(done.team.ended));
  assert.ok(done.team.members.length >= 6, "members: " + done.team.members.map((m) => m.agent));
  assert.ok(done.tasks.every((t) => t.state === "done"), "every task is done");
  for (const m of done.team.members) await members.getByRole("region", { name: m.agent, exact: true }).waitFor();
  const phases = page.getByRole("list", { name: "Phases" });
  assert.equal(await phases.locator("li.done").count(), done.team.phases.length, "every phase is done");

  // Messages are cards from somebody to somebody; what was only looked at unfolds.
  const feed = page.getByRole("log", { name: "What happens" });
  await feed.getByRole("article", { name: /to leader$/ }).first().waitFor();
  await sees(feed.locator(".mail-card.report").last(), "delivered");
  await feed.getByRole("article", { name: /^Merge of/ }).last().waitFor();
  while (await feed.getByRole("button", { name: "Earlier" }).count()) {
    const n = await feed.locator("> *").count();
    await feed.getByRole("button", { name: "Earlier" }).click();
    await until("there is more", async () => (await feed.locator("> *").count()) > n || !(await feed.getByRole("button", { name: "Earlier" }).count()));
  }
  await feed.locator(".turn-banner").first().waitFor();
  const group = feed.locator("details.group").first();
  await group.locator("summary").first().click();
  await group.locator(".uses li").nth(1).waitFor();
  await group.scrollIntoViewIfNeeded();
  await shot(page, "feed");

  // Who waits for whom, and the ledger.
  await page.getByRole("tab", { name: /^Dashboard/ }).click();
  await sees(page.getByRole("region", { name: "Tasks" }), "done");
  await shot(page, "dashboard");

  // What was made is beside it, to be read and compared.
  const made = page.getByRole("complementary", { name: "Deliverables" });
  await made.getByRole("button", { name: "index.html" }).click();
  const reader = page.getByRole("dialog");
  await sees(reader, /<html|<!doctype html/i);
  await reader.getByRole("button", { name: "Changes" }).click();
  await sees(reader, "new file");
  await shot(page, "file");
  await page.keyboard.press("Escape");
  await reader.waitFor({ state: "detached" });

  const told = await heard();
  assert.deepEqual(told, Array.from({ length: done.team.seq }, (_, i) => i + 1), "every event once");
  assert.ok(told.length > 60, "events over the stream: " + told.length);

  // Home has it among what is done.
  await page.goto(server.origin + "/");
  await page.getByRole("button", { name: "Teams" }).click();
  await page.locator("a.row", { hasText: "bakery" }).first().waitFor();
  await sees(page.getByRole("region", { name: "Done" }), "success");

  // Narrow, and in the dark.
  await page.emulateMedia({ colorScheme: "dark" });
  for (const width of [360, 400, 820]) {
    await page.setViewportSize({ width, height: 760 });
    for (const tab of width === 360 ? ["", "/board", "/mail", "/files?path=index.html", "/log"] : [""]) {
      await page.goto(server.origin + "/teams/" + id + tab);
      await page.getByRole("tabpanel").waitFor();
      await until("what the page shows is there", async () => (await page.getByText("Loading").count()) === 0);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${tab} is ${wide} px too wide at ${width}`);
      const cut = await page.evaluate(() => [...document.querySelectorAll(".phase-line, .banners")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.className));
      assert.deepEqual(cut, [], `cut off sideways at ${width}`);
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll("button, a, input, textarea, select, [role=tabpanel]")]
          .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.title))
          .map((e) => e.outerHTML.slice(0, 120)));
      assert.deepEqual(nameless, [], `${tab} has things without a name`);
      const made = await page.getByRole("complementary", { name: "Deliverables" }).locator(".count").textContent();
      await sees(page, `Deliverables (${made})`);
      await shot(page, `${width}${tab.replace(/\W+/g, "-")}`);
    }
  }
  clean(page);
});

// listen reads the stream of a team in pieces, each taken up where the one before
// was cut. The function it returns waits for the last event and gives their numbers.
function listen(page, server, id) {
  const seqs = [];
  let over = false;
  const reading = (async () => {
    const jar = (await page.context().cookies()).map((k) => k.name + "=" + k.value).join("; ");
    let last = "";
    while (!over) {
      const stop = new AbortController();
      const r = await fetch(`${server.origin}/api/events?watch=${id}` + (last ? "" : `&after=${id}:0`), { headers: { Cookie: jar, ...(last && { "Last-Event-ID": last }) }, signal: stop.signal });
      let text = "";
      let n = 0;
      try {
        for await (const chunk of r.body.pipeThrough(new TextDecoderStream())) {
          text += chunk;
          const parts = text.split("\n\n");
          text = parts.pop();
          for (const p of parts) {
            last = /^id: (.*)$/m.exec(p)?.[1] || last;
            assert.ok(!/^event: resync/m.test(p), "the stream lost something");
            if (!/^event: change/m.test(p)) continue;
            const e = JSON.parse(/^data: (.*)$/m.exec(p)[1]);
            seqs.push(e.seq);
            if (e.kind === "team_ended") over = true;
            n++;
          }
          if (n >= 15 || over) stop.abort(); // as when a browser loses its connection
        }
      } catch (e) {
        if (e.name !== "AbortError") throw e;
      }
    }
    return seqs;
  })();
  reading.catch(() => {});
  return () => reading;
}
