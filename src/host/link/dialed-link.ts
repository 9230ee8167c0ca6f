import type { BatchReceiver, Carrier } from "../../net/index.js";
import type { Aside, HostLink, LostWords, OpenLink, RunningEventId } from "./host-link.js";

/** A connection that a host of another process has opened to the head. */
export interface HostConnection extends Carrier<Aside> {
  listen(receiver: BatchReceiver<Aside> & { closed(): void }): void;
  /** Closes it when what was sent before has left. */
  close(): void;
}

/** How long the other process may take to end a host that is not needed any more. */
const END_MS_MAX = 1000;

/** A host of another process, which has come to the head by itself. The process starts it when it is told its task. */
export function openDialed(connection: HostConnection, member: string): OpenLink {
  return (task, on): HostLink => {
    let lostWords: LostWords | null = null;
    let told: (running: RunningEventId | null) => void = () => {};
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    connection.listen({
      batch: (bytes) => on.batch(bytes),
      aside: (aside) => {
        if (aside.kind === "runs") told(aside.running);
        else if (aside.kind === "lost") lostWords = aside;
        else on.aside(aside);
      },
      closed: () => {
        end();
        on.lost(new Error(lostWords?.why ?? `the connection to ${member} has ended`));
      },
    });
    connection.tell({ kind: "task", task });
    return {
      kind: "member",
      member,
      post: (bytes) => connection.post(bytes),
      tell: (aside) => connection.tell(aside),
      running(answer) {
        if (lostWords !== null) return answer(lostWords.running);
        told = answer;
        connection.tell({ kind: "whatRuns" });
      },
      kill: () => connection.close(),
      async close() {
        connection.tell({ kind: "dismissed" });
        const late = setTimeout(() => connection.close(), END_MS_MAX);
        await ended;
        clearTimeout(late);
      },
    };
  };
}
