import type { Ledger } from "./ledger.js";
import type { Limits } from "./limits.js";
import type { Told } from "./node.js";
import type { Ports } from "./ports.js";

/** A message to a client that has left its logical node. */
export interface Letter {
  readonly message: unknown;
  readonly from: Told;
  readonly leftAt: number;
}

/**
 * Messages to clients that the clients have not confirmed: in the journal since the commit of the events that sent them,
 * and handed over again whenever a client comes back, until it confirms them or they are too old or too many.
 */
export class Mailboxes {
  readonly #unread = new Map<string, Letter[]>();
  #callOff: (() => void) | null = null;

  constructor(
    readonly ledger: Ledger,
    readonly ports: Ports,
    readonly limits: Limits,
  ) {}

  of(client: string): readonly Letter[] {
    return this.#unread.get(client) ?? [];
  }

  put(client: string, message: unknown, from: Told): void {
    const letters = this.#unread.get(client) ?? [];
    this.#unread.set(client, letters);
    letters.push({ message, from, leftAt: this.ports.now() });
    if (letters.length > this.limits.messagesPerClient) this.#drop(client, letters, 1);
    this.#callOff ??= this.ports.at(this.ports.now() + this.limits.messagesMs, () => this.#expire());
  }

  /** The client has this message, and all earlier ones of that logical node. */
  received(client: string, upTo: Told): void {
    const letters = this.#unread.get(client) ?? [];
    const left = letters.filter(({ from }) => from.node !== upTo.node || isAfter(from, upTo));
    for (const { from } of letters) {
      if (from.node === upTo.node && !isAfter(from, upTo)) this.ledger.forgetMessage(client, from);
    }
    if (left.length === 0) this.#unread.delete(client);
    else this.#unread.set(client, left);
  }

  stop(): void {
    this.#callOff?.();
  }

  #expire(): void {
    this.#callOff = null;
    const before = this.ports.now() - this.limits.messagesMs;
    let oldest = Number.POSITIVE_INFINITY;
    for (const [client, letters] of this.#unread) {
      const count = letters.findIndex(({ leftAt }) => leftAt > before);
      this.#drop(client, letters, count < 0 ? letters.length : count);
      oldest = Math.min(oldest, letters[0]?.leftAt ?? Number.POSITIVE_INFINITY);
    }
    if (oldest === Number.POSITIVE_INFINITY) return;
    this.#callOff = this.ports.at(oldest + this.limits.messagesMs, () => this.#expire());
  }

  /** Gives the oldest up. */
  #drop(client: string, letters: Letter[], count: number): void {
    for (const { from } of letters.splice(0, count)) this.ledger.forgetMessage(client, from);
    if (letters.length === 0) this.#unread.delete(client);
  }
}

function isAfter(a: Told, b: Told): boolean {
  return a.ticket === b.ticket ? a.index > b.index : a.ticket > b.ticket;
}
