import { Share } from "../../model/share.js";
import type { Told } from "../event/index.js";
import type { Limits, Ports } from "../ports/index.js";
import type { Ledger } from "./ledger.js";

/** A message to a client that has left its logical node. The journal has it; here is only where it came from. */
interface Letter {
  readonly from: Told;
  readonly bytes: number;
  readonly leftAt: number;
}

interface Mailbox {
  letters: Letter[];
  readonly share: Share;
  /** Since when its client is not there; null while it is. */
  awaySince: number | null;
}

/** So many clients of earlier processes are looked at in one go; then others have their turn. */
const SWEPT_AT_ONCE = 1_000;
const SWEEP_PAUSE_MS = 20;

/** What a message takes besides its value. */
const LETTER_BYTES = 128;

/**
 * Messages that clients have not confirmed: in the journal since the commit of the events that sent them, and handed over
 * again whenever a client comes back, until it confirms them. A client is given up when it stays away too long, or when its
 * messages get too old, too many or too large; messages to clients that never came are not kept.
 */
export class Mailboxes {
  /** Clients that have come since the program began, or to whom messages were sent; the journal knows the others. */
  readonly #known = new Map<string, Mailbox>();
  readonly #budget: Share;
  /** Clients that the journal knows have been looked at up to this key, for clients that stay away; null when all have. */
  #sweptTo: string | null = "";
  #callOff: (() => void) | null = null;
  readonly #began: number;

  constructor(
    readonly ledger: Ledger,
    readonly ports: Ports,
    readonly limits: Limits,
  ) {
    this.#budget = Share.of(limits.mailboxBytes);
    this.#began = ports.now();
    for (const _ of ledger.clients()) {
      this.#watch();
      break;
    }
  }

  #add(client: string, awaySince: number | null): Mailbox {
    const mailbox = { letters: [], share: this.#budget.part(client), awaySince };
    this.#known.set(client, mailbox);
    return mailbox;
  }

  /** Undefined if nothing is kept for the client. One that only the journal knows is away since the program began. */
  #mailboxOf(client: string): Mailbox | undefined {
    const known = this.#known.get(client);
    if (known !== undefined || !this.ledger.hasClient(client)) return known;
    return this.#add(client, this.#began);
  }

  /** A client comes, or comes back. Was everything kept that was sent to it meanwhile? */
  open(client: string): boolean {
    const mailbox = this.#mailboxOf(client);
    if (mailbox !== undefined) {
      mailbox.awaySince = null;
      return true;
    }
    this.#add(client, null);
    this.ledger.noteClient(client);
    return false;
  }

  /** The client is gone, and may come back. */
  leave(client: string): void {
    const mailbox = this.#known.get(client);
    if (mailbox === undefined) return;
    mailbox.awaySince = this.ports.now();
    this.#watch();
  }

  isEmpty(client: string): boolean {
    return (this.#known.get(client)?.letters.length ?? 0) === 0;
  }

  /** What is there for a client, in the order in which it left. Each message is read when it is its turn. */
  *of(client: string): Iterable<readonly [message: unknown, from: Told]> {
    for (const { from } of [...(this.#known.get(client)?.letters ?? [])]) {
      const stored = this.ledger.message(client, from);
      if (stored !== null) yield [stored.message, from];
    }
  }

  /** False if nothing is kept for the client. */
  put(client: string, bytes: number, from: Told): boolean {
    const mailbox = this.#mailboxOf(client);
    if (mailbox === undefined) {
      this.ledger.forgetMessage(client, from);
      return false;
    }
    const { letters, share } = mailbox;
    const taken = bytes + LETTER_BYTES;
    letters.push({ from, bytes: taken, leftAt: this.ports.now() });
    const { messagesPerClient, messageBytesPerClient } = this.limits;
    const isFull = letters.length > messagesPerClient || share.held + taken > messageBytesPerClient;
    share.take(taken);
    if (isFull || share.room < 0) this.forget(client);
    else this.#watch();
    return true;
  }

  /** The client has this message, and all earlier ones of that logical node. */
  received(client: string, upTo: Told): void {
    const mailbox = this.#known.get(client);
    if (mailbox === undefined) return;
    const left: Letter[] = [];
    for (const letter of mailbox.letters) {
      if (letter.from.node !== upTo.node || isAfter(letter.from, upTo)) left.push(letter);
      else {
        mailbox.share.give(letter.bytes);
        this.ledger.forgetMessage(client, letter.from);
      }
    }
    mailbox.letters = left;
  }

  /** The client is gone for good. */
  forget(client: string): void {
    const mailbox = this.#known.get(client);
    if (mailbox === undefined) return;
    for (const { from } of mailbox.letters) this.ledger.forgetMessage(client, from);
    mailbox.share.give(mailbox.share.held);
    mailbox.share.leave();
    this.#known.delete(client);
    this.ledger.forgetClient(client);
  }

  /** Clients that leave afterwards, because their server is closed behind the service, arm no timer. */
  stop(): void {
    this.#callOff?.();
    this.#callOff = () => {};
  }

  #watch(): void {
    this.#callOff ??= this.ports.at(this.ports.now() + this.limits.messagesMs, () => this.#giveUp());
  }

  #giveUp(): void {
    this.#callOff = null;
    const now = this.ports.now();
    const before = now - this.limits.messagesMs;
    if (this.#began <= before) this.#sweep();
    let oldest = Number.POSITIVE_INFINITY;
    for (const [client, { letters, awaySince }] of this.#known) {
      const since = Math.min(letters[0]?.leftAt ?? Infinity, awaySince ?? Infinity);
      if (since <= before) this.forget(client);
      else oldest = Math.min(oldest, since);
    }
    if (this.#sweptTo !== null) oldest = Math.min(oldest, this.#began);
    if (oldest === Number.POSITIVE_INFINITY) return;
    const due = Math.max(oldest + this.limits.messagesMs, now + SWEEP_PAUSE_MS);
    this.#callOff = this.ports.at(due, () => this.#giveUp());
  }

  /** Gives up clients that the journal knows and that have not come back since the program began, a page at a time. */
  #sweep(): void {
    if (this.#sweptTo === null) return;
    let count = 0;
    for (const [key, client] of this.ledger.clients(this.#sweptTo)) {
      this.#sweptTo = key;
      if (!this.#known.has(client)) this.ledger.forgetClient(client);
      count += 1;
      if (count === SWEPT_AT_ONCE) return;
    }
    this.#sweptTo = null;
  }
}

function isAfter(a: Told, b: Told): boolean {
  return a.ticket === b.ticket ? a.index > b.index : a.ticket > b.ticket;
}
