/** What a member needs of the world besides its log. The simulator has a world of its own (`test/cluster/sim-cluster.ts`). */

import {
  type FollowedLog,
  FollowedTable,
  type FollowedTableOptions,
} from "../journal/stream/followed-table.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { BatchReceiver, Carrier } from "../net/index.js";
import { type Dialing, dial } from "./dial.js";
import { type Hello, Link, listenForLinks } from "./links.js";

/** One end of a connection between two members (`Link`). */
export interface LinkEnd<Out> extends Carrier<unknown> {
  listen(listener: BatchReceiver<unknown> & { closed(): void }): void;
  onClosed(closed: () => void): void;
  send(message: Out): void;
  close(): void;
  cut(): void;
}

export interface MemberWorld {
  /** In milliseconds from some moment on. */
  now(): number;
  /** Calls back again and again, until it is stopped. */
  every(ms: number, callback: () => void): () => void;
  /** After all else that is called in this turn. */
  soon(callback: () => void): void;
  /** No two are equal. */
  unique(): string;
  /** Each connection has said what it wants. */
  listen(
    host: string,
    accept: (link: LinkEnd<never>, hello: Hello) => void,
  ): Promise<{ readonly address: unknown; close(): void }>;
  /** Connects to a member, again and again until that succeeds. Null if it is over before. */
  dial(dialing: Dialing): Promise<LinkEnd<never> | null>;
  openTable(port: LogPort, options: FollowedTableOptions): Promise<FollowedLog>;
}

export const realWorld: MemberWorld = {
  now: () => performance.now(),
  every: (ms, callback) => {
    const timer = setInterval(callback, ms);
    return () => clearInterval(timer);
  },
  soon: setImmediate,
  unique: () => crypto.randomUUID(),
  listen: (host, accept) => listenForLinks<never>(host, { accept }),
  dial: async (dialing) => {
    const socket = await dial(dialing);
    return socket === null ? null : new Link<never>(socket);
  },
  openTable: (port, options) => FollowedTable.open(port, options),
};
