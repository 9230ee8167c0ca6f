import { HeadwaterError } from "../errors.js";
import type { MessagesIn } from "../model/between-logs.js";
import type {
  Asked,
  Door,
  Listening,
  ReadCallbacks,
  RelaySeries,
  ResultCallbacks,
  Series,
  WatchedRequest,
} from "../model/door.js";
import { resolvePath } from "../model/path.js";
import { noSuchMethod } from "../model/refs.js";
import { decode } from "../state/codec.js";
import type { ChangeFeed, Watcher } from "./change-feed.js";
import type { GatewayMessage, HeadMessage, RelayedCall, RelayedPayer, RelayedRequest } from "./relayed.js";

/** So many answers are kept for a gateway that has them, before they are dropped. */
const DROPPED_AT_ONCE = 64;

/** The head's end of a link: makes the requests of one gateway, and tells it what comes of them. */
export class Relay {
  readonly #door: Door;
  readonly #send: (message: HeadMessage) => void;
  readonly #own: RelaySeries;
  /** From heads of other logs in the gateway's process. */
  readonly #messages: MessagesIn | null;
  readonly #series = new Map<string, Series>();
  readonly #listening = new Map<string, Listening>();
  /** Reads that clients of the gateway watch. */
  readonly #reads = new Map<number, WatchedRequest>();
  readonly #watcher: Watcher;
  #below = 0;
  #isClosed = false;
  /** The gateway has another version of the program. */
  isOtherVersion = false;

  /** `changes`: what the gateway may watch; `cut` closes the link of a gateway that does not answer. */
  constructor(
    door: Door,
    gateway: string,
    send: (message: HeadMessage) => void,
    readonly changes: ChangeFeed | null = null,
    cut: () => void = () => {},
  ) {
    this.#door = door;
    this.#watcher = { send: (message) => this.#send(message), cut, seen: 0 };
    this.#send = (message) => {
      if (!this.#isClosed) send(message);
    };
    this.#own = door.relay(gateway, { caller: "the cluster", part: gateway });
    this.#messages = door.messages((taken) => this.#send(taken));
  }

  take(message: GatewayMessage): void {
    switch (message.kind) {
      case "ask":
      case "once":
      case "series":
        return this.#request(message);
      case "answered":
        return this.#series.get(message.client)?.answered(message.below);
      case "leave":
        this.#series.get(message.client)?.leave();
        this.#series.delete(message.client);
        return;
      case "listen":
        return this.#listen(message.client);
      case "received": {
        const { client, node, ticket, index } = message;
        return this.#listening.get(client)?.received({ node, ticket, index });
      }
      case "unlisten":
        this.#listening.get(message.client)?.leave();
        this.#listening.delete(message.client);
        return;
      case "forget":
        this.#listening.get(message.client)?.forget();
        this.#listening.delete(message.client);
        return;
      case "read":
        return this.#read(message);
      case "unread":
        this.#reads.get(message.id)?.stop();
        this.#reads.delete(message.id);
        return;
      case "watch":
        return this.changes?.join(this.#watcher);
      case "seen":
        return this.changes?.seen(this.#watcher, message.change);
      case "ping":
        return this.#send({ kind: "pong", sentMs: message.sentMs });
      case "announce": {
        const { id, changes, isStrict } = message;
        return this.changes?.announce(changes, isStrict, () => this.#send({ kind: "announced", id }));
      }
      case "offer":
      case "message":
        return this.#messages?.take(message);
      default:
        throw new HeadwaterError("HW-6005", "a gateway has sent what a head does not understand.");
    }
  }

  /** The link is gone. Its clients may come back, over this link or another. */
  close(): void {
    this.#isClosed = true;
    this.changes?.leave(this.#watcher);
    this.#own.leave();
    this.#messages?.leave();
    for (const series of this.#series.values()) series.leave();
    for (const listening of this.#listening.values()) listening.leave();
    for (const read of this.#reads.values()) read.stop();
  }

  #read({ id, call, client }: Extract<GatewayMessage, { kind: "read" }>): void {
    const waiting: ReadCallbacks = {
      resolve: (value) => this.#send({ kind: "read", id, ok: true, value }),
      reject: (value) => this.#send({ kind: "read", id, ok: false, value }),
      changed: () => {
        this.#reads.delete(id);
        this.#send({ kind: "stale", id });
      },
    };
    try {
      this.#reads.set(id, this.#door.watch(this.#asked(call), client ?? undefined, waiting));
    } catch (error) {
      waiting.reject(error);
    }
  }

  #request(message: RelayedRequest): void {
    const { n } = message;
    const waiting: ResultCallbacks = {
      resolve: (value) => this.#send({ kind: "result", n, ok: true, value }),
      reject: (value) => this.#send({ kind: "result", n, ok: false, value }),
    };
    let asked: Asked;
    try {
      asked = this.#asked(message.call);
    } catch (error) {
      return waiting.reject(this.isOtherVersion ? otherVersion((error as Error).message) : error);
    }
    if (message.kind === "ask") {
      this.#own.ask(n, asked, message.client ?? undefined, message.sentUpTo, waiting);
      if (message.below - this.#below < DROPPED_AT_ONCE) return;
      this.#below = message.below;
      this.#own.answered(message.below);
    } else if (message.kind === "once") {
      this.#door.ask(asked, message.client ?? undefined, message.request, payerOf(message.payer), waiting);
    } else {
      const { client, number, sentUpTo, payer } = message;
      let series = this.#series.get(client);
      if (series === undefined) {
        series = this.#door.series(client, payerOf(payer));
        this.#series.set(client, series);
      }
      series.ask(number, asked, sentUpTo ?? undefined, waiting);
    }
  }

  #asked({ node, path, method: name, args }: RelayedCall): Asked {
    const root = this.#door.roots.get(node);
    if (root === undefined) throw new HeadwaterError("HW-1020", `there is no logical node "${node}".`);
    const target = resolvePath(root, path);
    const method = target.shape.methods.get(name);
    if (method === undefined) throw noSuchMethod(target.shape, name, String(target));
    return { target, method, args: decode(args) as unknown[] };
  }

  #listen(client: string): void {
    if (this.#listening.has(client)) return;
    try {
      const listening = this.#door.listen(client, (message, { node, ticket, index }) => {
        this.#send({ kind: "told", client, message, node, ticket, index });
      });
      this.#listening.set(client, listening);
    } catch {
      this.#send({ kind: "unheard", client });
    }
  }
}

function payerOf([caller, part]: RelayedPayer) {
  return { caller, part };
}

export function otherVersion(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3113",
    `the head of the cluster runs another version of the program than this process: ${why} Finish the change with ` +
      "`headwater cluster roll`, or run the same version everywhere.",
  );
}
