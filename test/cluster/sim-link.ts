import type { GatewayMessage } from "#src/cluster/relayed.js";
import type { LinkEnd } from "#src/cluster/world.js";
import { encode } from "#src/state/codec.js";
import { placeOf, type SimProcess } from "./sim-cluster.js";

type Listener = Parameters<LinkEnd<never>["listen"]>[0];
type Packet = { readonly kind: "batch" | "aside" | "end"; readonly bytes: Uint8Array | string };

const BREAKS = 0.005;
const REDIAL_MS = 50;

/** Connects two processes of a simulated cluster. */
export function connected(
  from: SimProcess,
  member: string,
  log: string,
  isOver: () => boolean,
  refused: (() => void) | undefined,
): Promise<SimLink | null> {
  const { listening, parts } = from.cluster;
  return new Promise((resolve) => {
    const dial = () => {
      if (isOver()) return resolve(null);
      const accept = listening.get(placeOf(member, log));
      const to = from.cluster.processes.find(({ name }) => name === member);
      if (accept === undefined || to === undefined) {
        refused?.();
        return void parts.chance.at(REDIAL_MS, () => from.later("dial", dial));
      }
      const [near, far] = [new SimLink(from), new SimLink(to)];
      near.peer = far;
      far.peer = near;
      to.later("accept", () => accept(far));
      from.later("connected", () => resolve(near));
    };
    from.later("dial", dial);
  });
}

/** One end of a link: what is sent arrives late and in order, until the link breaks. */
export class SimLink implements LinkEnd<never> {
  readonly #process: SimProcess;
  peer: SimLink | null = null;
  #listener: Listener | null = null;
  readonly #arrived: Packet[] = [];
  readonly #onClosed: (() => void)[] = [];
  #isClosed = false;
  #isEnding = false;
  /** Planted: the message before one that got lost, which then stands before the next one. */
  #after: unknown = null;

  constructor(process: SimProcess) {
    this.#process = process;
    process.links.add(this);
  }

  listen(listener: Listener): void {
    const isFirst = this.#listener === null;
    this.#listener = listener;
    if (this.#isClosed) return listener.closed();
    if (isFirst) for (const _ of this.#arrived) this.#process.later("link", () => this.#arrive());
  }

  onClosed(closed: () => void): void {
    this.#onClosed.push(closed);
  }

  post(bytes: Uint8Array): void {
    this.#send({ kind: "batch", bytes });
  }

  tell(aside: unknown): void {
    this.#send({ kind: "aside", bytes: JSON.stringify(aside) });
  }

  send(message: GatewayMessage): void {
    const { plant, random, lostBetween } = this.#process.cluster.parts;
    const isNew = plant === "retried as new" && message.kind === "ask";
    const isBetween = ["offer", "message", "taken"].includes(message.kind);
    const isLost = isBetween && lostBetween > 0 && random.chance(lostBetween);
    if (message.kind === "message" && plant === "confirmed early") this.#confirm(message);
    if (message.kind === "message" && plant === "gap accepted") {
      if (!isLost) this.post(encode([{ ...message, after: this.#after ?? message.after }]));
      this.#after = isLost ? (this.#after ?? message.after) : null;
    } else if (!isLost) this.post(encode([isNew ? { ...message, sentUpTo: 0 } : message]));
  }

  /** Planted: the message counts as taken for good when it was sent. */
  #confirm({ from, to, history, position }: Extract<GatewayMessage, { readonly kind: "message" }>): void {
    const taken = { kind: "taken", from, to, history, goOnAfter: null, safe: position };
    this.#process.later("link", () => this.#listener?.batch(encode([taken])));
  }

  close(): void {
    this.#send({ kind: "end", bytes: "" });
    this.#isEnding = true;
  }

  cut(): void {
    const { peer } = this;
    this.#end();
    if (peer !== null) peer.#end();
  }

  #send(packet: Packet): void {
    const { peer } = this;
    if (this.#isClosed || this.#isEnding || peer === null) return;
    peer.#arrived.push(packet);
    if (peer.#listener !== null) peer.#process.later("link", () => peer.#arrive());
  }

  #arrive(): void {
    const packet = this.#arrived.shift();
    if (packet === undefined || this.#isClosed) return;
    if (packet.kind === "end" || this.#process.cluster.parts.random.chance(BREAKS)) return this.cut();
    if (packet.kind === "batch") this.#listener?.batch(packet.bytes as Uint8Array);
    else this.#listener?.aside(JSON.parse(packet.bytes as string));
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const process = this.#process;
    process.links.delete(this);
    process.later("closed", () => {
      this.#listener?.closed();
      for (const closed of this.#onClosed) closed();
    });
  }
}
