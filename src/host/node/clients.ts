import { HeadwaterError } from "../../errors.js";
import { weightOf } from "../deduplication/index.js";
import { InJournal, type Told } from "../event/index.js";
import { apart, type Ports } from "../ports/index.js";
import type { Ledger, Mailboxes } from "../store/index.js";

const QUIET_MS = 60_000;
const SHOWN_MAX = 100;

type OnMessage = (message: unknown, from: Told) => void;

/** A connected client. */
export interface Caller {
  readonly id: string;
  readonly onMessage: OnMessage;
  /** Whether a message counts as received when `onMessage` returns, or only when `received` says so. */
  readonly confirms: "at once" | "later";
  /** Was everything kept that was sent to it before it came? */
  readonly isComplete: boolean;
  /** Has it been given what was kept for it? */
  isUpToDate: boolean;
}

/** The clients of a program: who is connected, and what they are told. With a journal, mailboxes keep what they miss. */
export class Clients {
  readonly #connected = new Map<string, Caller>();
  readonly #ports: Ports;
  readonly #ledger: Ledger | null;
  readonly #mailboxes: Mailboxes | null;
  /** Hears of messages that reach no client. */
  readonly #warn: (warning: HeadwaterError) => void;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #unreported = 0;

  constructor(
    ports: Ports,
    ledger: Ledger | null,
    mailboxes: Mailboxes | null,
    warn: (warning: HeadwaterError) => void,
  ) {
    this.#warn = warn;
    this.#ports = ports;
    this.#ledger = ledger;
    this.#mailboxes = mailboxes;
  }

  isConnected(caller: Caller): boolean {
    return this.#connected.get(caller.id) === caller;
  }

  connect(id: string, onMessage: OnMessage, confirms: Caller["confirms"] = "at once"): Caller {
    if (this.#connected.has(id)) {
      throw new HeadwaterError(
        "HW-1402",
        `a client named "${id}" is connected already; close that client first.`,
      );
    }
    const isComplete = this.#mailboxes?.open(id) ?? false;
    const isUpToDate = this.#mailboxes?.isEmpty(id) ?? true;
    const caller: Caller = { id, onMessage, confirms, isComplete, isUpToDate };
    this.#connected.set(id, caller);
    if (!isUpToDate) this.#ports.soon(() => this.#bringUpToDate(caller));
    return caller;
  }

  #bringUpToDate(caller: Caller): void {
    for (const [message, from] of this.#mailboxes?.of(caller.id) ?? []) {
      if (!this.isConnected(caller)) return;
      this.#hand(caller, message, from);
    }
    caller.isUpToDate = true;
  }

  /** A client has a message, and with it all earlier ones of the same logical node. */
  received(caller: Caller, upTo: Told): void {
    this.#mailboxes?.received(caller.id, upTo);
  }

  /** The client is gone for good, and with it what is kept for it. */
  forget(caller: Caller): void {
    this.disconnect(caller);
    this.#mailboxes?.forget(caller.id);
  }

  disconnect(caller: Caller): void {
    if (!this.isConnected(caller)) return;
    this.#connected.delete(caller.id);
    this.#mailboxes?.leave(caller.id);
  }

  tell(client: string, message: unknown, from: Told): void {
    const stored = message instanceof InJournal ? message : null;
    const isKept = this.#mailboxes?.put(client, stored?.bytes ?? weightOf(message), from) ?? false;
    const caller = this.#connected.get(client);
    if (caller === undefined && !isKept) this.#unknown(client, from);
    if (!caller?.isUpToDate) return;
    this.#hand(caller, stored === null ? message : this.#ledger?.message(client, from)?.message, from);
  }

  /** The first in a minute: how many messages reach no client may be for strangers to decide. */
  #unknown(client: string, { node }: Told): void {
    this.#unreported += 1;
    const now = this.#ports.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + QUIET_MS;
    const others =
      this.#unreported === 1 ? "" : ` So were ${this.#unreported - 1} more since the last warning.`;
    this.#unreported = 0;
    this.#warn(
      new HeadwaterError(
        "HW-1403",
        `an event of ${node} has sent a message to the client ${JSON.stringify(client.slice(0, SHOWN_MAX))}, which is not connected and ` +
          `for which nothing is kept: the message is gone.${others} Sessions are named by \`this.event.caller\`; what is for a user, and must ` +
          "wait for it, is published to a topic.",
      ),
    );
  }

  #hand(caller: Caller, message: unknown, from: Told): void {
    apart(() => caller.onMessage(message, from));
    if (caller.confirms === "at once") this.received(caller, from);
  }

  stop(): void {
    this.#mailboxes?.stop();
  }
}
