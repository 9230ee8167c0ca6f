import type { Ledger } from "./ledger.js";
import type { Limits } from "./limits.js";
import type { Ports } from "./ports.js";
import type { Told } from "./surroundings.js";

/** A message to a client that has left its logical node. */
export interface Letter {
  readonly message: unknown;
  readonly from: Told;
  readonly leftAt: number;
}

/**
 * Messages that clients have not confirmed: in the journal since the commit of the events that sent them, and handed over
 * again whenever a client comes back, until it confirms them. A client whose messages get too old or too many is given
 * up, and messages to clients that never came are not kept.
 */
export class Mailboxes {
  /** Those that have come since the program began, or to whom messages were sent; the journal knows the others. */
  readonly #known = new Map<string, Letter[]>();
  #callOff: (() => void) | null = null;

  constructor(
    readonly ledger: Ledger,
    readonly ports: Ports,
    readonly limits: Limits,
  ) {}

  /** A client comes, or comes back. Was everything kept that was sent to it meanwhile? */
  open(client: string): boolean {
    if (this.#lettersOf(client) !== undefined) return true;
    this.#known.set(client, []);
    this.ledger.noteClient(client);
    return false;
  }

  /** Undefined if nothing is kept for the client. */
  #lettersOf(client: string): Letter[] | undefined {
    const letters = this.#known.get(client);
    if (letters !== undefined || !this.ledger.hasClient(client)) return letters;
    const none: Letter[] = [];
    this.#known.set(client, none);
    return none;
  }

  /** What is there for a client, in the order in which it left. */
  of(client: string): readonly Letter[] {
    return this.#known.get(client) ?? [];
  }

  put(client: string, message: unknown, from: Told): void {
    const letters = this.#lettersOf(client);
    if (letters === undefined) return this.ledger.forgetMessage(client, from);
    letters.push({ message, from, leftAt: this.ports.now() });
    if (letters.length > this.limits.messagesPerClient) this.forget(client);
    else this.#callOff ??= this.ports.at(this.ports.now() + this.limits.messagesMs, () => this.#giveUp());
  }

  /** The client has this message, and all earlier ones of that logical node. */
  received(client: string, upTo: Told): void {
    const letters = this.#known.get(client);
    if (letters === undefined) return;
    const left: Letter[] = [];
    for (const letter of letters) {
      if (letter.from.node !== upTo.node || isAfter(letter.from, upTo)) left.push(letter);
      else this.ledger.forgetMessage(client, letter.from);
    }
    this.#known.set(client, left);
  }

  /** The client is gone for good. */
  forget(client: string): void {
    for (const { from } of this.of(client)) this.ledger.forgetMessage(client, from);
    if (this.#known.delete(client)) this.ledger.forgetClient(client);
  }

  stop(): void {
    this.#callOff?.();
  }

  #giveUp(): void {
    this.#callOff = null;
    const before = this.ports.now() - this.limits.messagesMs;
    let oldest = Number.POSITIVE_INFINITY;
    for (const [client, [first]] of this.#known) {
      if (first === undefined) continue;
      if (first.leftAt <= before) this.forget(client);
      else oldest = Math.min(oldest, first.leftAt);
    }
    if (oldest === Number.POSITIVE_INFINITY) return;
    this.#callOff = this.ports.at(oldest + this.limits.messagesMs, () => this.#giveUp());
  }
}

function isAfter(a: Told, b: Told): boolean {
  return a.ticket === b.ticket ? a.index > b.index : a.ticket > b.ticket;
}
