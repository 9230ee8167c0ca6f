import type { BatchReceiver } from "../../net/index.js";
import type { HostConnection } from "./dialed-link.js";
import type { Aside, HostLink, HostTask, OpenLink } from "./host-link.js";

export interface OfferedHostParts {
  /** Starts a host of this process. */
  readonly open: OpenLink;
  readonly module: string;
  readonly heapMb: number | undefined;
  /** It has loaded the program. */
  readonly ready: () => void;
  readonly refused: (code: string, message: string) => void;
  /** It has ended, or the connection has. `isWanted`: the head needs another one. */
  readonly ended: (isWanted: boolean) => void;
}

/** The other end of `openDialed`: a host of this process works for a head elsewhere, over a connection. Ends with the connection. */
export function offerHost(connection: HostConnection, parts: OfferedHostParts): void {
  let host: HostLink | null = null;
  let isWanted = true;
  const toHead: BatchReceiver<Aside> = {
    batch: (bytes) => connection.post(bytes),
    aside: (aside) => {
      if (aside.kind === "ready") parts.ready();
      connection.tell(aside);
    },
  };
  const begin = (task: HostTask) => {
    const { open, module, heapMb } = parts;
    host = open(
      { ...task, module, heapMb },
      {
        ...toHead,
        lost: (why) => {
          const lost = host;
          host = null;
          let running: Extract<Aside, { kind: "lost" }>["running"] = null;
          lost?.running((known) => {
            running = known;
          });
          connection.tell({ kind: "lost", why: why.message, running });
          connection.close();
        },
      },
    );
  };
  connection.listen({
    // Copied: the bytes that arrive share their memory with others, and a thread takes memory as a whole.
    batch: (bytes) => host?.post(new Uint8Array(bytes)),
    aside: (aside) => {
      if (aside.kind === "task" && host === null) begin(aside.task);
      else if (aside.kind === "whatRuns")
        host?.running((running) => connection.tell({ kind: "runs", running }));
      else if (aside.kind === "dismissed" || aside.kind === "refused") {
        isWanted = false;
        if (aside.kind === "refused") parts.refused(aside.code, aside.message);
        connection.close();
      } else host?.tell(aside);
    },
    closed: () => {
      host?.kill();
      void host?.close();
      host = null;
      parts.ended(isWanted);
    },
  });
}
