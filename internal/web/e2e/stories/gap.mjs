// What happens between a page's first look and its stream is shown all the same.

import { clean, newJob, open, sees, story } from "./lib.mjs";

await story(async ({ server, c }) => {
  const first = await open(c, server);
  const id = await newJob(first, server);
  const say = (what, data) => first.request.post(server.origin + "/api/jobs/" + id + "/" + what, { data, headers: { Origin: server.origin } });

  // The stream is late: the job is renamed after the page has fetched it.
  const late = await c.newPage();
  let renamed;
  const rename = async () => {
    await late.getByRole("button", { name: "Approve revision 1" }).waitFor();
    await say("rename", { title: "Renamed meanwhile", key: "gap-1" });
  };
  await late.route("**/api/events?*", async (r) => {
    await (renamed ??= rename());
    await r.continue().catch(() => {}); // another stream is asked for meanwhile
  });
  await late.goto(server.origin + "/jobs/" + id);
  await sees(late, "Renamed meanwhile");

  // An address that was cut off in the middle of a character is a page too.
  await late.goto(server.origin + "/jobs/%E2%82");
  await late.getByRole("link", { name: "Conclave" }).waitFor();
  clean(first);
});
