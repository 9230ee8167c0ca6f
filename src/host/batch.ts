import { Packr, RESET_BUFFER_MODE } from "msgpackr";
import { HeadwaterError } from "../errors.js";
import { pathOf } from "../model/path.js";
import { decode, encode } from "../state/codec.js";
import { isSimple } from "../state/values.js";
import { methodOf } from "./recovery.js";
import type { Slot } from "./slot.js";
import { at, type Ended, type Header, type Path, type ToHead, type ToHost, type WireEffect } from "./wire.js";

/**
 * Messages between the head and its hosts, many at a time as one piece of binary data, in one flat list. Contexts and
 * names are said once and are numbers from then on. Both ends are of one program and trust each other, so the envelope
 * is packed as fast as it can be; what belongs to the application goes through the same encoding as everywhere, unless
 * it is a simple value.
 */
type Message = ToHost | ToHead;

/** What stands in front of each item of a batch. */
const [CONTEXT, NAME, AFRESH, RUN, OVER, FINISH, FORGET, OTHER, LET_GO] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** Contexts and names that one end of a connection keeps numbers for; then it begins again. */
const NUMBERED_MAX = 65_536;

/** Beyond this, the buffer that batches are packed in is not worth keeping. */
const BUFFER_BYTES_KEPT_MAX = 1 << 20;

/** Gathers messages for one batch. */
export class Outbox<M extends Message> {
  readonly #packr = new Packr({ useRecords: false, encodeUndefinedAsNil: false });
  readonly #contexts = new Map<Slot, number>();
  /** Numbers of contexts that were let go, for others; both ends count alike. */
  readonly #free: number[] = [];
  readonly #names = new Map<string, number>();
  #items: unknown[] = [0];
  count = 0;

  add(message: M): void {
    this.count += 1;
    this.#add(message);
  }

  /** The batch so far. `confirmed` says how many batches from the other end have been dealt with since the last one. */
  batch(confirmed: number): Uint8Array {
    const items = this.#items;
    items[0] = confirmed;
    this.#items = [0];
    this.count = 0;
    const bytes = new Uint8Array(this.#packr.pack(items, RESET_BUFFER_MODE));
    if (bytes.length > BUFFER_BYTES_KEPT_MAX) this.#packr.useBuffer(Buffer.allocUnsafeSlow(8192));
    return bytes;
  }

  #add(message: Message): void {
    switch (message.kind) {
      case "run":
        return this.#addRun(message);
      case "finish":
        return this.#addFinish(message);
      case "forget": {
        const node = this.#name(message.node);
        this.#items.push(FORGET, node, message.ticket, message.attempt);
        return;
      }
      case "letGo": {
        const context = this.#context(message.slot);
        this.#items.push(LET_GO, context);
        this.#contexts.delete(message.slot);
        this.#free.push(context);
        return;
      }
      case "call": {
        const asked = { ...message.asked, args: packedValue(message.asked.args) };
        const header = this.#header(message.header);
        this.#items.push(OTHER, { ...message, header, asked });
        return;
      }
      case "ask":
        this.#items.push(OTHER, { ...message, args: packedValue(message.args) });
        return;
      case "return":
      case "returned":
        this.#items.push(OTHER, { ...message, ...packedEnd(message) });
        return;
      default:
        this.#items.push(OTHER, message);
    }
  }

  #addRun({ slot, method, ticket, attempt, time, args, caller, origin, seen, isAlone, after }: Header): void {
    const context = this.#context(slot);
    const name = this.#name(method.name);
    const isPlain = caller === null && origin.kind === "request" && seen.length === 0;
    const rest = isPlain ? null : [caller, origin.kind === "request" ? null : origin, seen];
    const own = packedValue(args);
    const how = isAlone ? (after ?? true) : false; // only what is alone is sent ahead
    this.#items.push(RUN, context, name, ticket, attempt, time, how, own, rest);
  }

  #header({ slot, method, ticket, attempt, time, args, caller, origin, seen }: Header): unknown[] {
    const own = packedValue(args);
    return [this.#context(slot), this.#name(method.name), ticket, attempt, time, own, caller, origin, seen];
  }

  #addFinish(message: Extract<Message, { kind: "finish" }>): void {
    const { ticket, attempt, ok, value, effects, writes, isOver } = message;
    const node = this.#name(message.node);
    if (ok && isOver && "value" in value && effects.length === 0 && writes.length === 0) {
      this.#items.push(OVER, node, ticket, attempt, packedValue(value.value));
    } else {
      const end = packedEnd(message);
      this.#items.push(FINISH, node, ticket, attempt, isOver, ok, end.value, end.effects, end.writes);
    }
  }

  #context(slot: Slot): number {
    const known = this.#contexts.get(slot);
    if (known !== undefined) return known;
    const node = this.#name(slot.node);
    if (this.#contexts.size === NUMBERED_MAX) this.#afresh();
    const number = this.#free.pop() ?? this.#contexts.size;
    this.#contexts.set(slot, number);
    this.#items.push(CONTEXT, node, encode(pathOf(slot)));
    return number;
  }

  #name(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, this.#names.size);
    this.#items.push(NAME, name);
    return this.#names.size - 1;
  }

  /** The names stay: there are only as many as the program's classes have methods. */
  #afresh(): void {
    this.#contexts.clear();
    this.#free.length = 0;
    this.#items.push(AFRESH);
  }
}

/** The other end of an outbox. */
export class Inbox<M extends Message> {
  readonly #packr = new Packr({ useRecords: false });
  readonly #contexts: (Slot | null)[] = [];
  readonly #free: number[] = [];
  readonly #names: string[] = [];

  #items: readonly unknown[] = NONE;
  #at = 0;

  constructor(
    readonly roots: () => ReadonlyMap<string, Slot>,
    readonly take: (message: M) => void,
  ) {}

  /** Begins with a batch; says how many batches it confirms. */
  open(bytes: Uint8Array): number {
    this.#items = this.#packr.unpack(bytes) as unknown[];
    this.#at = 1;
    return this.#items[0] as number;
  }

  /** Takes the next message of the batch, if there is one. */
  next(): boolean {
    const items = this.#items;
    const take = this.take as (message: Message) => void;
    while (this.#at < items.length) {
      const i = this.#at;
      switch (items[i]) {
        case RUN:
          this.#at += 9;
          take(this.#run(items, i));
          return true;
        case OVER:
          this.#at += 5;
          take(this.#over(items, i));
          return true;
        case FINISH:
          this.#at += 9;
          take(this.#finish(items, i));
          return true;
        case FORGET:
          this.#at += 4;
          take({ kind: "forget", ...this.#try(items, i) });
          return true;
        case LET_GO:
          this.#at += 2;
          take({ kind: "letGo", slot: this.#released(items[i + 1] as number) });
          return true;
        case OTHER:
          this.#at += 2;
          take(this.#other(items[i + 1] as Message));
          return true;
        case CONTEXT: {
          const node = this.#names[items[i + 1] as number] as string;
          const number = this.#free.pop() ?? this.#contexts.length;
          this.#contexts[number] = at(node, decode(items[i + 2] as Uint8Array) as Path, this.roots());
          this.#at += 3;
          break;
        }
        case NAME:
          this.#names.push(items[i + 1] as string);
          this.#at += 2;
          break;
        case AFRESH:
          this.#contexts.length = 0;
          this.#free.length = 0;
          this.#at += 1;
          break;
        default:
          throw new HeadwaterError("HW-6005", `a message between hosts begins with ${String(items[i])}.`);
      }
    }
    this.#items = NONE;
    return false;
  }

  #released(context: number): Slot {
    const slot = this.#contexts[context] as Slot;
    this.#contexts[context] = null;
    this.#free.push(context);
    return slot;
  }

  #try(items: readonly unknown[], i: number) {
    const node = this.#names[items[i + 1] as number] as string;
    return { node, ticket: items[i + 2] as number, attempt: items[i + 3] as number };
  }

  #run(items: readonly unknown[], i: number): Extract<ToHost, { kind: "run" }> {
    const slot = this.#contexts[items[i + 1] as number] as Slot;
    const how = items[i + 6] as boolean | number;
    const rest = items[i + 8] as [string | null, Header["origin"] | null, Header["seen"]] | null;
    return {
      kind: "run",
      slot,
      method: methodOf(slot, this.#names[items[i + 2] as number] as string),
      ticket: items[i + 3] as number,
      attempt: items[i + 4] as number,
      time: items[i + 5] as number,
      isAlone: how !== false,
      after: typeof how === "number" ? how : null,
      args: unpackedValue(items[i + 7]) as unknown[],
      caller: rest === null ? null : rest[0],
      origin: rest?.[1] ?? REQUEST,
      seen: rest === null ? NONE : rest[2],
    };
  }

  #header(packed: readonly unknown[]): Header {
    const [context, name, ticket, attempt, time, args, caller, origin, seen] = packed as [
      number,
      number,
      number,
      number,
      number,
      unknown,
      string | null,
      Header["origin"],
      Header["seen"],
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
      args: own,
      caller,
      origin,
      seen,
      isAlone: false,
      after: null,
    };
  }

  #over(items: readonly unknown[], i: number): Extract<ToHead, { kind: "finish" }> {
    return {
      kind: "finish",
      node: this.#names[items[i + 1] as number] as string,
      ticket: items[i + 2] as number,
      attempt: items[i + 3] as number,
      isOver: true,
      ok: true,
      value: { value: unpackedValue(items[i + 4]) },
      effects: NONE,
      writes: NONE,
    };
  }

  #finish(items: readonly unknown[], i: number): Extract<ToHead, { kind: "finish" }> {
    const [ok, value, effects, writes] = items.slice(i + 5, i + 9);
    const end = unpackedEnd({ ok, value, effects, writes } as PackedEnd);
    return { kind: "finish", ...this.#try(items, i), isOver: items[i + 4] as boolean, ...end };
  }

  #other(message: Message): Message {
    switch (message.kind) {
      case "call": {
        const header = this.#header(message.header as unknown as unknown[]);
        const args = unpackedValue(message.asked.args) as unknown[];
        return { ...message, header, asked: { ...message.asked, args } };
      }
      case "ask":
        return { ...message, args: unpackedValue(message.args) as unknown[] };
      case "return":
      case "returned":
        return { ...message, ...unpackedEnd(message as unknown as PackedEnd) };
      default:
        return message;
    }
  }
}

const NONE: readonly never[] = [];
const REQUEST: Header["origin"] = { kind: "request" };

interface PackedEnd {
  readonly ok: boolean;
  /** A value, or the code and the text of one of our errors. */
  readonly value: readonly [unknown] | readonly [string, string];
  readonly effects: 0 | Uint8Array;
  readonly writes: 0 | Ended["writes"];
}

function packedEnd({ ok, value, effects, writes }: Ended): PackedEnd {
  return {
    ok,
    value: "value" in value ? [packedValue(value.value)] : [value.code, value.message],
    effects: effects.length === 0 ? 0 : encode(effects),
    writes: writes.length === 0 ? 0 : writes,
  };
}

function unpackedEnd({ ok, value, effects, writes }: PackedEnd): Ended {
  return {
    ok,
    value: value.length === 1 ? { value: unpackedValue(value[0]) } : { code: value[0], message: value[1] },
    effects: effects === 0 ? NONE : (decode(effects) as WireEffect[]),
    writes: writes === 0 ? NONE : writes,
  };
}

/** What is not simple is encoded; so binary data is always an encoding. */
function packedValue(value: unknown): unknown {
  if (Array.isArray(value) ? value.every(isPackable) : isPackable(value)) return value;
  return encode(value);
}

function unpackedValue(packed: unknown): unknown {
  return packed instanceof Uint8Array ? decode(packed) : packed;
}

const HALF_CHARACTER = /\p{Surrogate}/u;

/** Not what msgpackr would change: halves of characters, integers of any length, the sign of zero. */
function isPackable(value: unknown): boolean {
  if (typeof value === "string") return !HALF_CHARACTER.test(value);
  return isSimple(value) && typeof value !== "bigint" && !Object.is(value, -0);
}
