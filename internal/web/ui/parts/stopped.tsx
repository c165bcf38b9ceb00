// What is shown of a flow that goes no further because whoever drove it is gone.

import { key, post, seg } from "../lib/api";
import { Button, say, Trouble, useTask } from "./basic";

export const stoppedWords = "stopped: nobody drives it";

export function Stopped({ flow, again }: { flow: string; again: () => void }) {
  const task = useTask();
  const wake = () => task.run(async () => {
    await post(`/api/flows/${seg(flow)}/wake`, { key: key() });
    say("It goes on");
    again();
  });
  return (
    <div class="note stopped" role="status">
      <span>Stopped: nobody drives it. It was in the middle of something, and its process is gone; nothing of it is lost.</span>
      <Button small kind="main" busy={task.busy} onClick={wake}>Go on</Button>
      <Trouble of={task.problem} />
    </div>
  );
}
