import { Packr } from "msgpackr";
import type { Ticket } from "../../core/event.js";
import { HeadwaterError } from "../../errors.js";
import type { Path } from "../../model/path.js";
import { decode } from "../../state/codec.js";
import type { Slot } from "../context/index.js";
import { methodOf } from "../event/index.js";
import { WireReader } from "./bytes.js";
import {
  HOW,
  type HostMessage,
  KIND,
  NONE,
  type PackedEnd,
  type PackedWireValue,
  type RestOfHeader,
  unpackedEnd,
  unpackedValue,
  unpackedWireValue,
} from "./packed.js";
import { type AttemptId, at, type EventHeader, type ToHead, type ToHost } from "./wire.js";

const REQUEST: EventHeader["origin"] = { kind: "request" };

/** The other end of an outbox. */
export class Inbox<M extends HostMessage> {
  readonly #packr = new Packr({ useRecords: false });
  readonly #contexts: (Slot | null)[] = [];
  readonly #free: number[] = [];
  readonly #names: string[] = [];

  readonly #reader = new WireReader();
  #lastTicket = 0;
  #lastTime = 0;
  #lastSteadyMs = 0;

  constructor(
    readonly roots: () => ReadonlyMap<string, Slot>,
    readonly take: (message: M) => void,
  ) {}

  /** Begins with a batch; says how many batches it confirms. */
  open(bytes: Uint8Array): number {
    this.#lastTicket = 0;
    this.#lastTime = 0;
    this.#lastSteadyMs = 0;
    return this.#reader.open(bytes);
  }

  /** Takes the next message of the batch, if there is one. */
  next(): boolean {
    const reader = this.#reader;
    while (!reader.isAtEnd) {
      const message = this.#next(reader.uint());
      if (message === null) continue;
      (this.take as (message: HostMessage) => void)(message);
      return true;
    }
    return false;
  }

  /** The message that begins like this; null for what is only to be known. */
  #next(kind: number): HostMessage | null {
    const reader = this.#reader;
    switch (kind) {
      case KIND.run:
        return this.#run();
      case KIND.over:
        return this.#over();
      case KIND.finish: {
        const named = this.#attemptId();
        const { isOver, ...end } = this.#packr.unpack(reader.blob()) as PackedEnd & { isOver: boolean };
        return { kind: "finish", ...named, isOver, ...unpackedEnd(end) };
      }
      case KIND.forget:
        return { kind: "forget", ...this.#attemptId() };
      case KIND.evict:
        return { kind: "evict", slot: this.#released(reader.uint()) };
      case KIND.other:
        return this.#other(this.#packr.unpack(reader.blob()) as HostMessage);
      case KIND.context: {
        const node = this.#names[reader.uint()] as string;
        const number = this.#free.pop() ?? this.#contexts.length;
        this.#contexts[number] = at(node, decode(reader.blob()) as Path, this.roots());
        return null;
      }
      case KIND.name:
        this.#names.push(reader.text());
        return null;
      case KIND.afresh:
        this.#contexts.length = 0;
        this.#free.length = 0;
        return null;
      default:
        throw new HeadwaterError("HW-6005", `a message between hosts begins with ${kind}.`);
    }
  }

  #released(context: number): Slot {
    const slot = this.#contexts[context] as Slot;
    this.#contexts[context] = null;
    this.#free.push(context);
    return slot;
  }

  #attemptId(): AttemptId {
    const node = this.#names[this.#reader.uint()] as string;
    return { node, ticket: this.#ticket(), attempt: this.#reader.uint() };
  }

  #ticket(): Ticket {
    this.#lastTicket += this.#reader.int();
    return this.#lastTicket as Ticket;
  }

  #run(): Extract<ToHost, { kind: "run" }> {
    const reader = this.#reader;
    const slot = this.#contexts[reader.uint()] as Slot;
    const method = methodOf(slot, this.#names[reader.uint()] as string);
    const ticket = this.#ticket();
    const attempt = reader.uint();
    if (reader.uint() === 1) {
      this.#lastTime = reader.value() as number;
      this.#lastSteadyMs = reader.value() as number;
    }
    const how = reader.uint();
    const after = how === HOW.after ? ((ticket - reader.int()) as Ticket) : null;
    const args = reader.value() as unknown[];
    const isBare = reader.uint() === 0;
    const rest = isBare ? null : (this.#packr.unpack(reader.blob()) as RestOfHeader);
    return {
      kind: "run",
      slot,
      method,
      ticket,
      attempt,
      time: this.#lastTime,
      steadyMs: this.#lastSteadyMs,
      isAlone: how !== HOW.notAlone,
      after,
      args,
      caller: rest === null ? null : (unpackedValue(rest[0]) as string | null),
      origin: rest?.[1] ?? REQUEST,
      seen: rest === null ? NONE : rest[2],
    };
  }

  #header(packed: readonly unknown[]): EventHeader {
    const [context, name, ticket, attempt, time, steadyMs, args, caller, origin, seen] = packed as [
      number,
      number,
      Ticket,
      number,
      number,
      number,
      unknown,
      unknown,
      EventHeader["origin"],
      EventHeader["seen"],
    ];
    const slot = this.#contexts[context] as Slot;
    const method = methodOf(slot, this.#names[name] as string);
    const own = unpackedValue(args) as unknown[];
    return {
      slot,
      method,
      ticket,
      attempt,
      time,
      steadyMs,
      args: own,
      caller: unpackedValue(caller) as string | null,
      origin,
      seen,
      isAlone: false,
      after: null,
    };
  }

  #over(): Extract<ToHead, { kind: "finish" }> {
    const node = this.#names[this.#reader.uint()] as string;
    const ticket = this.#ticket();
    const attempt = this.#reader.uint();
    const value = { value: this.#reader.value() };
    return {
      kind: "finish",
      node,
      ticket,
      attempt,
      isOver: true,
      ok: true,
      value,
      effects: NONE,
      writes: NONE,
      existing: NONE,
    };
  }

  #other(message: HostMessage): HostMessage {
    switch (message.kind) {
      case "call": {
        const header = this.#header(message.header as unknown as unknown[]);
        const args = unpackedValue(message.asked.args) as unknown[];
        return { ...message, header, asked: { ...message.asked, args } };
      }
      case "ask":
        return { ...message, args: unpackedValue(message.args) as unknown[] };
      case "return":
      case "returned": {
        const doom = message.doom as unknown as PackedWireValue | null;
        const end = unpackedEnd(message as unknown as PackedEnd);
        return { ...message, ...end, doom: doom === null ? null : unpackedWireValue(doom) };
      }
      case "refused":
        return { ...message, error: unpackedWireValue(message.error as unknown as PackedWireValue) };
      default:
        return message;
    }
  }
}
