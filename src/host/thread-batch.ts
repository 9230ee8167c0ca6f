import { Packr } from "msgpackr";
import { decode, encode } from "../state/codec.js";
import { isSimple } from "../state/values.js";
import type { Ended, Header, ToHead, ToHost, WireEffect, WireValue } from "./wire.js";

/**
 * Messages between the head and its threads, many at a time as one piece of binary data. Both ends are of one program
 * and trust each other, so the envelope is packed as fast as it can be; what belongs to the application goes through the
 * same encoding as everywhere, unless it is a simple value.
 */
type Message = ToHost | ToHead;

/** Gathers messages until the present turn of the event loop is over. */
export class Outbox<M extends Message> {
  readonly #packr = new Packr({ useRecords: false, encodeUndefinedAsNil: false });
  #messages: unknown[] = [];

  constructor(readonly post: (bytes: Uint8Array) => void) {}

  send(message: M): void {
    if (this.#messages.push(packed(message)) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.post(new Uint8Array(this.#packr.pack(messages)));
  }
}

const unpackr = new Packr({ useRecords: false });

export function messagesIn<M extends Message>(bytes: Uint8Array): readonly M[] {
  return (unpackr.unpack(bytes) as unknown[]).map((each) => unpacked(each) as M);
}

const KINDS = [
  "run",
  "enter",
  "call",
  "returned",
  "refused",
  "takeBack",
  "tookBack",
  "retracted",
  "publish",
  "undo",
  "forget",
  "view",
  "take",
  "give",
  "ask",
  "release",
  "retract",
  "finish",
  "return",
  "viewed",
  "given",
] as const satisfies readonly Message["kind"][];

const [RUN, FINISH, FORGET] = [KINDS.indexOf("run"), KINDS.indexOf("finish"), KINDS.indexOf("forget")];

/** Short forms for the three that every event needs, names and all for the others. */
function packed(message: Message): unknown {
  switch (message.kind) {
    case "run":
      return [RUN, ...packedHeader(message)];
    case "finish":
      return [FINISH, message.node, message.ticket, message.attempt, ...packedEnd(message)];
    case "forget":
      return [FORGET, message.node, message.ticket, message.attempt];
    case "call":
      return {
        ...message,
        header: packedHeader(message.header),
        asked: { ...message.asked, args: packedValue(message.asked.args) },
      };
    case "ask":
      return { ...message, args: packedValue(message.args) };
    case "return":
    case "returned":
      return { ...message, end: packedEnd(message), value: null, effects: null, writes: null };
    default:
      return message;
  }
}

function unpacked(packed: unknown): Message {
  if (Array.isArray(packed)) {
    const [kind, ...rest] = packed as [number, ...unknown[]];
    if (kind === RUN) return { kind: "run", ...unpackedHeader(rest) };
    const [node, ticket, attempt, ...end] = rest as [string, number, number, ...unknown[]];
    if (kind === FINISH) return { kind: "finish", node, ticket, attempt, ...unpackedEnd(end) };
    return { kind: "forget", node, ticket, attempt };
  }
  const message = packed as Message & { readonly end?: unknown[] };
  if (message.kind === "call") {
    const header = unpackedHeader(message.header as unknown as unknown[]);
    const args = unpackedValue(message.asked.args) as unknown[];
    return { ...message, header, asked: { ...message.asked, args } };
  }
  if (message.kind === "ask") return { ...message, args: unpackedValue(message.args) as unknown[] };
  if (message.kind === "return" || message.kind === "returned") {
    return { ...message, ...unpackedEnd(message.end ?? []) };
  }
  return message;
}

function packedHeader(header: Header): unknown[] {
  const { node, ticket, attempt, time, path, method, args, caller, origin, seen } = header;
  const plainOrigin = origin.kind === "request" ? null : origin;
  return [node, ticket, attempt, time, path, method, packedValue(args), caller, plainOrigin, seen];
}

function unpackedHeader(packed: readonly unknown[]): Header {
  const [node, ticket, attempt, time, path, method, args, caller, origin, seen] = packed as [
    string,
    number,
    number,
    number,
    Header["path"],
    string,
    unknown,
    string | null,
    Header["origin"] | null,
    Header["seen"],
  ];
  const own = unpackedValue(args) as unknown[];
  return { node, ticket, attempt, time, path, method, args: own, caller, origin: origin ?? REQUEST, seen };
}

const REQUEST: Header["origin"] = { kind: "request" };

function packedEnd({ ok, value, effects, writes }: Ended): unknown[] {
  const own = "value" in value ? [packedValue(value.value)] : [value.code, value.message];
  return [ok, own, effects.length === 0 ? 0 : encode(effects), writes.length === 0 ? 0 : writes];
}

function unpackedEnd(packed: readonly unknown[]): Ended {
  const [ok, own, effects, writes] = packed as [boolean, unknown[], 0 | Uint8Array, 0 | Ended["writes"]];
  const value: WireValue =
    own.length === 1 ? { value: unpackedValue(own[0]) } : { code: String(own[0]), message: String(own[1]) };
  return {
    ok,
    value,
    effects: effects === 0 ? [] : (decode(effects) as WireEffect[]),
    writes: writes === 0 ? [] : writes,
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

function isPackable(value: unknown): boolean {
  return isSimple(value) && typeof value !== "bigint" && !Object.is(value, -0);
}
