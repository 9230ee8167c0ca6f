import { Packr } from "msgpackr";
import type { Ticket } from "../../core/event.js";
import { HeadwaterError } from "../../errors.js";
import type { Key } from "../../model/key.js";
import type { Path, Step } from "../../model/path.js";
import { decode } from "../../state/codec.js";
import type { Slot } from "../context/index.js";
import { methodOf } from "../event/index.js";
import { WireReader } from "./bytes.js";
import {
  HELD,
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
import {
  type AboveOnWire,
  type AttemptId,
  at,
  type CallerOnWire,
  type CallRequest,
  type EventHeader,
  type Existing,
  type StoredNot,
  type ToHead,
  type ToHost,
  type WireOutcome,
  type WireValue,
} from "./wire.js";

const REQUEST: EventHeader["origin"] = { kind: "request" };
const BARE: Pick<EventHeader, "caller" | "origin" | "seen"> = { caller: null, origin: REQUEST, seen: NONE };

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
        const { node, ticket, attempt } = this.#attemptId();
        const isOver = reader.uint() === 1;
        const { ok, value, effects, writes, existing } = this.#end();
        return { kind: "finish", node, ticket, attempt, isOver, ok, value, effects, writes, existing };
      }
      case KIND.forget:
        return { kind: "forget", ...this.#attemptId() };
      case KIND.publish:
        return { kind: "publish", ...this.#attemptId() };
      case KIND.evict:
        return { kind: "evict", slot: this.#released(reader.uint()) };
      case KIND.ask:
        return this.#ask();
      case KIND.enter:
        return this.#enter();
      case KIND.call:
        return this.#call();
      case KIND.return:
        return this.#return();
      case KIND.returned:
        return this.#returned();
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
    this.#moment();
    const how = reader.uint();
    const after = how === HOW.after ? ((ticket - reader.int()) as Ticket) : null;
    const args = reader.value() as unknown[];
    const { caller, origin, seen } = this.#rest();
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
      caller,
      origin,
      seen,
    };
  }

  #moment(): void {
    if (this.#reader.uint() === 0) return;
    this.#lastTime = this.#reader.value() as number;
    this.#lastSteadyMs = this.#reader.value() as number;
  }

  #rest(): Pick<EventHeader, "caller" | "origin" | "seen"> {
    if (this.#reader.uint() === 0) return BARE;
    const [caller, origin, seen] = this.#packr.unpack(this.#reader.blob()) as RestOfHeader;
    return { caller: unpackedValue(caller) as string | null, origin: origin ?? REQUEST, seen };
  }

  #ask(): Extract<ToHead, { kind: "ask" }> {
    const named = this.#attemptId();
    const ask = this.#reader.uint();
    return { kind: "ask", ask, ...named, ...this.#asked() };
  }

  #enter(): Extract<ToHost, { kind: "enter" }> {
    const { node, ticket, attempt } = this.#attemptId();
    const ask = this.#reader.uint();
    const { held, seen } = this.#above();
    return { kind: "enter", node, ticket, attempt, ask, held, seen };
  }

  #call(): Extract<ToHost, { kind: "call" }> {
    const reader = this.#reader;
    const { node, ticket, attempt } = this.#attemptId();
    const call = reader.uint();
    const slot = this.#contexts[reader.uint()] as Slot;
    const method = methodOf(slot, this.#names[reader.uint()] as string);
    this.#moment();
    const [time, steadyMs] = [this.#lastTime, this.#lastSteadyMs];
    const args = reader.value() as unknown[];
    const { caller, origin, seen: views } = this.#rest();
    const header: EventHeader = {
      slot,
      method,
      ticket,
      attempt,
      time,
      steadyMs,
      args,
      caller,
      origin,
      seen: views,
      isAlone: false,
      after: null,
    };
    const asked = this.#asked();
    const { held, seen } = this.#above();
    return { kind: "call", node, ticket, attempt, call, header, asked, held, seen };
  }

  #return(): Extract<ToHead, { kind: "return" }> {
    const { node, ticket, attempt } = this.#attemptId();
    const call = this.#reader.uint();
    const entered = this.#states();
    const { ok, value, effects, writes, existing, doom } = this.#end();
    return {
      kind: "return",
      node,
      ticket,
      attempt,
      call,
      entered,
      ok,
      value,
      effects,
      writes,
      existing,
      doom,
    };
  }

  #returned(): Extract<ToHost, { kind: "returned" }> {
    const { node, ticket, attempt } = this.#attemptId();
    const ask = this.#reader.uint();
    const call = this.#reader.uint();
    const { ok, value, effects, writes, existing, doom } = this.#end();
    return { kind: "returned", node, ticket, attempt, ask, call, ok, value, effects, writes, existing, doom };
  }

  #asked(): CallRequest {
    const reader = this.#reader;
    const path = this.#path();
    const method = this.#names[reader.uint()] as string;
    const within = reader.uint();
    const positions = new Array<number>(reader.uint());
    for (let i = 0; i < positions.length; i++) positions[i] = reader.uint();
    const args = reader.value() as unknown[];
    const callers = this.#many(this.#caller);
    const seen = this.#states();
    const asked = { path, method, args, positions, within, callers, seen };
    const count = reader.uint();
    if (count === 0) return asked;
    const existing: Existing[number][] = [];
    for (let i = 1; i < count; i++) {
      const each = this.#path();
      const flags = reader.uint();
      existing.push([each, (flags & 1) !== 0, (flags & 2) !== 0]);
    }
    return { ...asked, existing };
  }

  readonly #caller = (): CallerOnWire => {
    const path = this.#path();
    const flags = this.#reader.uint();
    const bytes = this.#reader.blob();
    const state = (flags & HELD.state) !== 0 ? bytes : (this.#packr.unpack(bytes) as StoredNot);
    return [path, (flags & HELD.held) !== 0, state];
  };

  #above(): AboveOnWire {
    const held = this.#many(this.#path);
    return { held, seen: this.#states() };
  }

  #states(): readonly (readonly [Path, Uint8Array])[] {
    return this.#many(this.#state);
  }

  readonly #state = (): readonly [Path, Uint8Array] => {
    const path = this.#path();
    return [path, this.#reader.blob()];
  };

  readonly #path = (): Path => {
    const reader = this.#reader;
    const path = new Array<Step>(reader.uint());
    for (let i = 0; i < path.length; i++) {
      const name = reader.uint();
      const field = this.#names[name >>> 1] as string;
      const key = reader.value() as Key | undefined;
      path[i] =
        (name & 1) === 1 ? { field, json: key as string } : key === undefined ? { field } : { field, key };
    }
    return path;
  };

  /** As many as the number in front of them says. */
  #many<T>(read: () => T): readonly T[] {
    const count = this.#reader.uint();
    if (count === 0) return NONE;
    const all: T[] = [];
    for (let i = 0; i < count; i++) all.push(read());
    return all;
  }

  #end(): WireOutcome & { readonly doom: WireValue | null } {
    if (this.#reader.uint() === 1) {
      const value = { value: this.#reader.value() };
      return { ok: true, value, effects: NONE, writes: NONE, existing: NONE, doom: null };
    }
    const end = this.#packr.unpack(this.#reader.blob()) as PackedEnd & {
      readonly doom: PackedWireValue | null;
    };
    return { ...unpackedEnd(end), doom: end.doom === null ? null : unpackedWireValue(end.doom) };
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
      case "refused":
        return { ...message, error: unpackedWireValue(message.error as unknown as PackedWireValue) };
      default:
        return message;
    }
  }
}
