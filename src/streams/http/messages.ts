import { HeadwaterError } from "../../errors.js";
import { ByteReader } from "../columns/index.js";
import type { Decimals, PushOptions } from "../service/index.js";
import { checked, sealsOf } from "./push-routes.js";

/** What a client says over a WebSocket. `id` is the client's own; answers carry it. */
export type SocketMessage =
  | { readonly kind: "hello"; readonly token: string }
  | {
      readonly kind: "push";
      readonly id: number;
      readonly stream: string;
      readonly rows: readonly unknown[];
      readonly options: PushOptions;
    }
  | {
      readonly kind: "subscribe";
      readonly id: number;
      readonly stream: string;
      readonly from: number | null;
      readonly decimals: Decimals;
    }
  | { readonly kind: "unsubscribe"; readonly id: number };

/** Encoded columns for a stream. */
export interface ColumnsPush {
  readonly id: number;
  readonly stream: string;
  readonly options: PushOptions;
  readonly batch: Buffer;
}

const VERSION = 1;
const ID_MAX = 2 ** 31 - 1;

/** A text frame: one JSON object. */
export function messageOf(text: string): SocketMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken("a text frame is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw broken("a message is not an object");
  const given: Readonly<Record<string, unknown>> = { ...value };
  const { hello, push, subscribe, unsubscribe } = given;
  if (hello !== undefined) return helloOf(hello);
  const id = idOf(given.id);
  if (typeof push === "string") return pushOf(id, push, given);
  if (typeof subscribe === "string") {
    const { from = null, decimals } = given;
    if (from !== null && !(Number.isSafeInteger(from) && Number(from) >= 0))
      throw broken('"from" is not the number of a row');
    return {
      ...{ kind: "subscribe", id, stream: subscribe, from: from === null ? null : Number(from) },
      decimals: decimals === "text" ? "text" : "number",
    };
  }
  if (unsubscribe === true) return { kind: "unsubscribe", id };
  throw broken("a message is none of hello, push, subscribe, unsubscribe");
}

function helloOf(hello: unknown): SocketMessage {
  const token: unknown =
    typeof hello === "object" && hello !== null ? Reflect.get(hello, "token") : undefined;
  if (typeof token !== "string") throw broken('a hello has no "token"');
  return { kind: "hello", token };
}

function pushOf(id: number, stream: string, given: Readonly<Record<string, unknown>>): SocketMessage {
  const { rows, producer, sequence, key, seals } = given;
  if (!Array.isArray(rows)) throw broken('"rows" of a push are not a list');
  if (producer !== undefined && typeof producer !== "string") throw broken('"producer" is not a text');
  if (key !== undefined && typeof key !== "string") throw broken('"key" is not a text');
  const options = optionsOf(producer ?? "", sequence === undefined ? null : sequence, key ?? "");
  const sealing = seals === undefined ? {} : { seals: sealsOf(seals) };
  return { kind: "push", id, stream, rows, options: { ...options, ...sealing } };
}

/**
 * A binary frame: version (one byte, 1), id (varint), stream, producer and Idempotency-Key (texts; "" for none), the sequence (a byte
 * 0, or 1 and a double), then the batch to the end. A text is its length in bytes as a varint, and its UTF-8.
 */
export function columnsPushOf(frame: Buffer): ColumnsPush {
  try {
    const input = new ByteReader(frame);
    if (input.u8() !== VERSION) throw broken(`a binary frame has not the version ${VERSION}`);
    const id = idOf(input.varint());
    const [stream, producer, key] = [textIn(input), textIn(input), textIn(input)];
    const sequence = input.u8() === 0 ? null : input.f64();
    return { id, stream, options: optionsOf(producer, sequence, key), batch: input.take(input.left) };
  } catch (error) {
    if (error instanceof HeadwaterError && error.code === "HW-5301")
      throw broken("a binary frame is too short");
    throw error;
  }
}

function textIn(input: ByteReader): string {
  return input.take(input.varint()).toString("utf8");
}

function optionsOf(producer: string, sequence: unknown, key: string): PushOptions {
  if (sequence !== null && !(producer !== "" && Number.isSafeInteger(sequence) && Number(sequence) >= 0))
    throw broken('"sequence" is a number from 0 on, and needs a "producer"');
  return checked({
    ...(producer === "" ? {} : { producer }),
    ...(sequence === null ? {} : { sequence: Number(sequence) }),
    ...(key === "" ? {} : { key }),
  });
}

function idOf(id: unknown): number {
  if (typeof id === "number" && Number.isInteger(id) && id >= 0 && id <= ID_MAX) return id;
  throw broken(`"id" is not a number from 0 to ${ID_MAX}`);
}

export function broken(what: string): HeadwaterError {
  return new HeadwaterError("HW-4014", `${what}.`);
}
