import type { HeadwaterError } from "../../errors.js";
import type { Write } from "../../journal/journal.js";
import type {
  MessagePosition,
  MessagesIn,
  OutgoingMessage,
  TakenMessages,
} from "../../model/between-logs.js";
import { resolvePath } from "../../model/path.js";
import { decode } from "../../state/codec.js";
import type { Slot } from "../context/index.js";
import { methodOf, type NodeEvent } from "../event/index.js";
import { isAfter, isSame, type Ledger, type StoredEvent, takenUpTo, takenWrite } from "../store/index.js";
import type { LogicalNode } from "./node.js";

type Tell = (messages: TakenMessages) => void;

/** What has been taken of one sender's messages. */
interface Incoming {
  readonly from: string;
  readonly to: string;
  readonly history: string;
  /** The last that became an event. */
  last: MessagePosition;
  /** What the journal says, as far as it was appended. */
  written: MessagePosition;
  /** What the journal says for sure. */
  safe: MessagePosition;
  /** A message came that is not the next one, and the sender was told. */
  isAsked: boolean;
  /** The last that could not be taken. */
  misfit: MessagePosition | null;
  readonly listeners: Set<Tell>;
}

/** What is written with a group of events, and what follows when the journal has it. */
export interface TakenWith {
  readonly writes: readonly Write[];
  safe(): void;
}

export const NOTHING_TAKEN: TakenWith = { writes: [], safe: () => {} };

/**
 * Messages that come from logical nodes of other logs. Each becomes an event, in order. How far they were taken is written with the events
 * that they became: a group that has one of them has all before it, too, or their tickets, so none is left out and none comes twice.
 */
export class IncomingMessages {
  readonly #ledger: Ledger;
  readonly #nodes: ReadonlyMap<string, LogicalNode>;
  readonly #warn: (warning: HeadwaterError) => void;
  readonly #senders = new Map<string, Incoming>();
  #isStopped = false;

  constructor(
    ledger: Ledger,
    nodes: ReadonlyMap<string, LogicalNode>,
    warn: (warning: HeadwaterError) => void,
  ) {
    this.#ledger = ledger;
    this.#nodes = nodes;
    this.#warn = warn;
  }

  /** A connection over which messages come; `tell` answers there. */
  open(tell: Tell): MessagesIn {
    return {
      take: (message) => this.#take(message, tell),
      leave: () => {
        for (const { listeners } of this.#senders.values()) listeners.delete(tell);
      },
    };
  }

  #take(message: OutgoingMessage, tell: Tell): void {
    const { from, to, history } = message;
    const node = this.#nodes.get(to);
    if (node === undefined || this.#isStopped) return; // the sender offers it again, to the next head
    const sender = this.#sender(from, to, history);
    sender.listeners.add(tell);
    if (message.kind === "offer") {
      sender.isAsked = false;
      return tell(takenOf(sender, sender.last));
    }
    const { position, after, event } = message;
    if (!isAfter(position, sender.last)) return;
    if (!isSame(after, sender.last)) {
      if (!sender.isAsked) tell(takenOf(sender, sender.last));
      sender.isAsked = true;
      return;
    }
    const isTaken = this.#begin(node, decode(event) as StoredEvent, sender, position);
    if (isTaken) sender.last = position;
    sender.isAsked = !isTaken; // else those behind it would be asked for again and again
  }

  /** A version of the program that knows the method may be the head later: until then the sender keeps the message. */
  #begin(node: LogicalNode, stored: StoredEvent, sender: Incoming, position: MessagePosition): boolean {
    let slot: Slot;
    let method: ReturnType<typeof methodOf>;
    try {
      slot = resolvePath(node.root, stored.path);
      method = methodOf(slot, stored.method);
    } catch (error) {
      if (sender.misfit === null || !isSame(sender.misfit, position)) this.#warn(error as HeadwaterError);
      sender.misfit = position;
      return false;
    }
    node.begin(slot, method, stored.args, stored.origin);
    return true;
  }

  /** Nothing is taken any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** What these events, and those `open` that keep their tickets, say of how far messages were taken. */
  takenWith(events: readonly NodeEvent[], open: readonly NodeEvent[]): TakenWith {
    let reached: Set<Incoming> | null = null;
    for (const list of [events, open]) {
      for (const { payload } of list) {
        const { origin, slot } = payload;
        if (origin.kind !== "message" || origin.history === undefined) continue;
        const sender = this.#sender(origin.from, slot.node, origin.history);
        const position = [origin.parent, origin.index] as const;
        if (!isAfter(position, sender.written)) continue;
        sender.written = position;
        (reached ??= new Set()).add(sender);
      }
    }
    if (reached === null) return NOTHING_TAKEN;
    const marks = [...reached].map((sender) => ({ sender, written: sender.written }));
    return {
      writes: marks.map(({ sender: { to, from, history }, written }) =>
        takenWrite(to, from, history, written),
      ),
      safe: () => {
        for (const { sender, written } of marks) {
          sender.safe = written;
          for (const tell of sender.listeners) tell(takenOf(sender, null));
        }
      },
    };
  }

  #sender(from: string, to: string, history: string): Incoming {
    const name = `${from} ${to} ${history}`;
    const known = this.#senders.get(name);
    if (known !== undefined) return known;
    const written = takenUpTo(this.#ledger.journal, to, from, history);
    const common = { last: written, written, safe: written, isAsked: false, misfit: null };
    const sender = { from, to, history, ...common, listeners: new Set<Tell>() };
    this.#senders.set(name, sender);
    return sender;
  }
}

function takenOf({ from, to, history, safe }: Incoming, goOnAfter: MessagePosition | null): TakenMessages {
  return { kind: "taken", from, to, history, goOnAfter, safe };
}
