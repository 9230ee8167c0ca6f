import { invariant } from "../../errors.js";
import type {
  MessagePosition,
  MessagesOut,
  OutgoingMessage,
  OwnLog,
  TakenMessages,
} from "../../model/between-logs.js";
import type { Ports } from "../ports/index.js";
import { isAfter, type Ledger, outgoingKey } from "../store/index.js";

/** So many messages of one sender are on their way to one receiver at a time, or so many bytes of them. */
const WINDOW = 1024;
const WINDOW_BYTES = 2 ** 20;
/** Of which nothing is heard for so long are offered again. */
const AGAIN_MS = 2000;
/** Places of confirmed messages in front of a queue are given back so many at a time. */
const GIVEN_BACK = 1024;

/** The messages of one logical node to one of another log that have left their events, in the order in which they leave. */
class Outgoing {
  readonly #queue: MessagePosition[] = [];
  /** Sizes of the messages in flight. */
  readonly #sizes: number[] = [];
  #start = 0;
  #next = 0;
  #bytes = 0;
  /** The message that was sent last; null until the receiver has said where to begin. */
  #after: MessagePosition | null = null;
  /** Was anything heard since the last look? */
  isHeard = true;

  constructor(
    readonly from: string,
    readonly to: string,
  ) {}

  get count(): number {
    return this.#queue.length - this.#start;
  }

  add(position: MessagePosition): void {
    this.#queue.push(position);
  }

  /** Nothing is sent until the receiver has said where to begin. */
  pause(): void {
    this.#after = null;
  }

  /** Everything behind this one is sent, from now on. */
  goOnAfter(position: MessagePosition): void {
    this.#after = position;
    this.#next = this.#start;
    this.#bytes = 0;
    this.#sizes.length = 0;
    for (let at = this.#queue[this.#next]; at && !isAfter(at, position); at = this.#queue[this.#next]) {
      this.#next += 1;
      this.#sizes.push(0);
    }
  }

  /** The next that may be sent, and the one before it; null if there is none, or enough are on their way. */
  next(): { readonly position: MessagePosition; readonly after: MessagePosition } | null {
    const position = this.#queue[this.#next];
    const isFull = this.#sizes.length >= WINDOW || (this.#bytes >= WINDOW_BYTES && this.#sizes.length > 0);
    return position === undefined || this.#after === null || isFull ? null : { position, after: this.#after };
  }

  sent(position: MessagePosition, bytes: number): void {
    this.#after = position;
    this.#next += 1;
    this.#bytes += bytes;
    this.#sizes.push(bytes);
  }

  /** Takes out the first message, if the receiver's log has it. */
  shift(safe: MessagePosition): MessagePosition | null {
    const first = this.#queue[this.#start];
    if (first === undefined || isAfter(first, safe)) return null;
    this.#start += 1;
    if (this.#next < this.#start) this.#next = this.#start;
    else this.#bytes -= this.#sizes.shift() ?? 0;
    if (this.#start < GIVEN_BACK || this.#start * 2 < this.#queue.length) return first;
    this.#queue.splice(0, this.#start);
    this.#next -= this.#start;
    this.#start = 0;
    return first;
  }
}

/**
 * What logical nodes of this log have sent to those of other logs. A message is in the journal from the commit of its event until
 * the receiver's log has the event that it became; it is sent, in order, to whichever process is the head there, and again to the next one.
 */
export class OutgoingMessages {
  readonly #history: string;
  readonly #ledger: Ledger;
  readonly #ports: Ports;
  readonly #rested: () => void;
  readonly #route: MessagesOut;
  readonly #pairs = new Map<string, Outgoing>();
  #callOff: (() => void) | null = null;
  #isStopped = false;

  /** `rested` hears that fewer messages are on their way. */
  constructor(history: string, ledger: Ledger, ownLog: OwnLog, ports: Ports, rested: () => void) {
    this.#history = history;
    this.#ledger = ledger;
    this.#ports = ports;
    this.#rested = rested;
    this.#route = ownLog.open({
      connected: (nodes) => {
        for (const pair of this.#pairs.values()) if (nodes.has(pair.to)) this.#offer(pair);
      },
      taken: (messages) => this.#taken(messages),
    });
  }

  get isEmpty(): boolean {
    return this.#pairs.size === 0;
  }

  backlog(from: string, to: string): number {
    return this.#pairs.get(`${from} ${to}`)?.count ?? 0;
  }

  /** The message has left its event: all that this sender sent to this receiver before has left, too. */
  send(from: string, to: string, position: MessagePosition): void {
    if (this.#isStopped) return;
    const name = `${from} ${to}`;
    const known = this.#pairs.get(name);
    const pair = known ?? new Outgoing(from, to);
    pair.add(position);
    if (known === undefined) {
      this.#pairs.set(name, pair);
      this.#offer(pair);
    } else this.#sendSome(pair);
    this.#callOff ??= this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff?.();
    this.#route.close();
  }

  #offer(pair: Outgoing): void {
    pair.pause();
    const { from, to } = pair;
    this.#route.send({ kind: "offer", from, to, history: this.#history });
  }

  #sendSome(pair: Outgoing): void {
    const { from, to } = pair;
    for (let next = pair.next(); next !== null; next = pair.next()) {
      const event = this.#ledger.journal.get(outgoingKey(from, to, next.position));
      invariant(event !== undefined, "a message is in the journal until it is confirmed");
      pair.sent(next.position, event.byteLength);
      const message: OutgoingMessage = { kind: "message", from, to, history: this.#history, ...next, event };
      this.#route.send(message);
    }
  }

  #taken({ from, to, history, goOnAfter, safe }: TakenMessages): void {
    const name = `${from} ${to}`;
    const pair = this.#pairs.get(name);
    if (pair === undefined || history !== this.#history || this.#isStopped) return;
    pair.isHeard = true;
    const { count } = pair;
    for (let first = pair.shift(safe); first !== null; first = pair.shift(safe))
      this.#ledger.forgetKey(outgoingKey(from, to, first));
    if (goOnAfter !== null) pair.goOnAfter(goOnAfter);
    if (pair.count === 0) this.#pairs.delete(name);
    else this.#sendSome(pair);
    if (pair.count < count) this.#rested();
  }

  /** Whatever got lost on the way is sent again. */
  #lookLater(): () => void {
    return this.#ports.at(this.#ports.now() + AGAIN_MS, () => {
      this.#callOff = this.#pairs.size === 0 ? null : this.#lookLater();
      for (const pair of this.#pairs.values()) {
        if (!pair.isHeard) this.#offer(pair);
        pair.isHeard = false;
      }
    });
  }
}
