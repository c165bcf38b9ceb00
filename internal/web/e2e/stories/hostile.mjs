// Files that mean no good are text and nothing else.

import { assert, clean, newJob, open, project, sees, shot, story, until } from "./lib.mjs";
import { mkdirSync, writeFileSync } from "node:fs";

const hostile = `# Plan <script>window.pwned = 1</script>

<img src="http://192.0.2.1/a.png" onerror="window.pwned = 2"> ![remote](http://192.0.2.1/b.png)
![data](data:image/svg+xml,<svg/onload=alert(1)>)

<iframe src="http://192.0.2.1/"></iframe><style>* { display: none }</style><base href="http://192.0.2.1/">

[click](javascript:window.pwned=3) <a href="javascript:window.pwned=4">here</a> <form action="http://192.0.2.1/"><input name=x></form>

<svg><animate onbegin="window.pwned=5" attributeName=x dur=1s></svg><math><mtext></form><form><mglyph><style></math><img src onerror=window.pwned=6>

- [ ] <div data-l="1-1" class="banner" id="main" onclick="window.pwned=7">a block of its own</div>

${"> ".repeat(3000)}deep

${"- ".repeat(2000)}deeper

The end of it.
`;

await story(async ({ server, c }) => {
  mkdirSync(project + "/evil");
  writeFileSync(project + "/evil/hostile.md", hostile);
  writeFileSync(project + "/evil/large.md", "# Large\n\n" + "a line of text with **marks** and [links](http://192.0.2.1/)\n\n".repeat(85_000));
  const page = await open(c, server);
  const id = await newJob(page, server, "--doc", "evil");
  await page.goto(server.origin + "/jobs/" + id);
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Text of plan.md").fill(hostile);
  await page.getByRole("button", { name: "Preview" }).click();
  await sees(page.locator(".editor"), "The end of it.");
  await page.getByRole("button", { name: "Save as a new revision" }).click();
  await page.getByRole("button", { name: "Approve revision 2" }).waitFor();
  await sees(page.locator(".doc-text"), "The end of it.");
  await harmless(page);
  await shot(page, "hostile");

  // The same among the documents, and one of five megabytes.
  for (const name of ["hostile", "large"]) {
    await page.goto(`${server.origin}/jobs/${id}/files?path=documents/evil/${name}.md`);
    await sees(page.locator(".file-view"), name === "large" ? "a line of text with" : "The end of it.");
    await harmless(page);
  }
  await shot(page, "large");
  await page.goto(`${server.origin}/jobs/${id}/files?path=../../../etc/passwd`);
  await sees(page.getByRole("alert"), /no|not/i);
  assert.equal((await page.content()).includes("root:x:"), false);

  // Tools of a companion are called with whatever a model makes up.
  const inputs = ["null", '{"query": 5}', '{"path": "\\ud800"}', '{"queries": {"a": []}}'];
  await page.route("**/api/sessions/*", async (r) => {
    const response = await r.fetch();
    const json = await response.json();
    const at = new Date().toISOString();
    const steps = inputs.map((input, i) => ({ id: "s" + i, at, kind: "tool", tool: input.includes("path") ? "read_workspace_file" : "vector_search", call: "c" + i, input, done: true }));
    json.turns = [{ id: "t", index: 0, at, text: "Look", html: "", steps, over: true }];
    await r.fulfill({ response, json });
  });
  await page.goto(`${server.origin}/jobs/${id}`);
  await sees(page, "searched by meaning for “5”");
  await page.unrouteAll({ behavior: "wait" }); // it may be asked for just now

  async function harmless(p) {
    for (const link of await p.locator(".prose a").all()) assert.doesNotMatch((await link.getAttribute("href")) || "", /^\s*(javascript|data):/i);
    assert.equal(await p.evaluate(() => window.pwned), undefined, "a script has run");
    assert.equal(await p.locator(".prose img, .prose script, .prose iframe, .prose form, .prose style, .prose svg, .prose [onclick], .prose [onerror]").count(), 0);
    assert.equal(await p.locator("#main").count(), 1, "an id was taken over");
  }
  void until;
  clean(page);
});
