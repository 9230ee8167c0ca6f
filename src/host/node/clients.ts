import { HeadwaterError } from "../../errors.js";
import { weightOf } from "../deduplication/index.js";
import { InJournal, type Told } from "../event/index.js";
import { apart, type Ports } from "../ports/index.js";
import type { Ledger, Mailboxes } from "../store/index.js";

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

  constructor(ports: Ports, ledger: Ledger | null, mailboxes: Mailboxes | null) {
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
    this.#mailboxes?.put(client, stored?.bytes ?? weightOf(message), from);
    const caller = this.#connected.get(client);
    if (!caller?.isUpToDate) return;
    this.#hand(caller, stored === null ? message : this.#ledger?.message(client, from)?.message, from);
  }

  #hand(caller: Caller, message: unknown, from: Told): void {
    apart(() => caller.onMessage(message, from));
    if (caller.confirms === "at once") this.received(caller, from);
  }

  stop(): void {
    this.#mailboxes?.stop();
  }
}
