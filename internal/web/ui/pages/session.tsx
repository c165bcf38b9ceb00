// A conversation with an agent.

import { useTitle } from "../lib/title";
import { spent } from "../lib/format";
import { to } from "../lib/route";
import { Badge } from "../parts/basic";
import { Chat, useSession } from "../parts/chat";
import { stoppedWords } from "../parts/stopped";

export function SessionPage({ id }: { id: string }) {
  const data = useSession(id);
  const s = data.value.value;
  useTitle(s?.title || "Session");
  return (
    <div class="session-page">
      <div class="head">
        <h1>{s?.title || "Session"}</h1>{s && (s.stopped ? <Badge tone="red">{stoppedWords}</Badge> : <Badge of={s.state} />)}<span class="grow" />
        {s?.cost && <span class="muted">{spent(s.cost)}</span>}
        {s?.job && <a href={to.job(s.job)}>the job</a>}
        {(s?.going || []).map((r) => <a key={r} href={to.run(r)}>run at work</a>)}
        <a href={to.audit(id)}>audit</a>
      </div>
      <Chat id={id} data={data} autofocus uses={{ job: s?.job }} hints={["What can you do?"]} />
    </div>
  );
}
