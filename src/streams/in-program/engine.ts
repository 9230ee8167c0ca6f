import type { OwnedEngine } from "../../model/owned.js";
import { type Batch, encodeBatch } from "../columns/index.js";
import {
  type Carried,
  type Command,
  decodeCommand,
  definitionOf,
  definitionText,
  encodeCommand,
  GraphEngine,
  stamp,
} from "../graph/index.js";
import { fingerprintOf, type NodeDefinition, type Planned } from "./plan.js";
import { presentIn, upgrade } from "./upgrade.js";

/** The first byte of a record with definitions; commands of a graph have small numbers there. */
const DEFINE = 0xff;
const TIME_PART = "time";

/**
 * The graph of a context of the program. Its records are the commands of a graph, and the definitions of the class whenever they
 * are others than before, so that a replay goes through the same versions of the program.
 */
export class ProgramEngine implements OwnedEngine<Carried> {
  readonly #graph = new GraphEngine();
  /** The definitions that the graph was built by, as its records say. */
  #recorded = "";
  /** The definitions that it is built by now. */
  #present = "";
  #is: Planned | null = null;
  /** The time of the last record, for what happens without one. */
  #timeMs = 0;

  get graph(): GraphEngine {
    return this.#graph;
  }

  get memoryBytes(): number {
    return this.#graph.memoryBytes;
  }

  /** Has a record said that the graph is built by these definitions? */
  isRecorded({ fingerprint }: Planned): boolean {
    return this.#recorded === fingerprint;
  }

  /**
   * Lets a reader see the graph by the definitions of its class before a record says so: a read-only method cannot apply one. The
   * first record afterwards has the definitions, so a replay does the same at the same position.
   */
  seenBy(planned: Planned): GraphEngine {
    if (this.#is !== planned) {
      this.#become(planned.definitions, planned.fingerprint);
      this.#is = planned;
    }
    return this.#graph;
  }

  apply(record: Uint8Array): Carried {
    const rows = justEncoded?.record === record ? justEncoded.batch : null;
    justEncoded = null;
    if (record[0] === DEFINE) return this.#define(record);
    const { timeMs, command } = decodeCommand(record);
    this.#timeMs = timeMs;
    return this.#graph.carryOut(rows === null ? command : withRows(command, rows), timeMs);
  }

  #define(record: Uint8Array): Carried {
    const definitions = definitionsIn(record);
    this.#become(definitions, fingerprintOf(definitions));
    this.#recorded = this.#present;
    return { refused: null, answers: [], grown: new Map() };
  }

  #become(definitions: readonly NodeDefinition[], fingerprint: string): void {
    if (this.#present === fingerprint) return;
    upgrade(this.#graph, definitions, this.#timeMs);
    this.#present = fingerprint;
    this.#is = null;
  }

  *checkpoint() {
    yield [TIME_PART, Buffer.from(String(this.#timeMs))] as const;
    yield* this.#graph.checkpoint();
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    const own = new Map(parts);
    this.#timeMs = Number(Buffer.from(own.get(TIME_PART) ?? []).toString());
    own.delete(TIME_PART);
    this.#graph.load(own);
    this.#recorded = fingerprintOf(presentIn(this.#graph));
    this.#present = this.#recorded;
  }
}

/** The rows of the record that was made last: where it is applied at once, they are not decoded again. */
let justEncoded: { readonly record: Uint8Array; readonly batch: Batch } | null = null;

export function pushRecord(stream: string, batch: Batch, timeMs: number): Uint8Array {
  const push = { stream, producer: "", sequence: null, key: null, batch: encodeBatch(batch) };
  const record = stamp(encodeCommand({ kind: "push", pushes: [push] }), timeMs);
  justEncoded = { record, batch };
  return record;
}

export function tickRecord(timeMs: number): Uint8Array {
  return stamp(encodeCommand({ kind: "tick" }), timeMs);
}

export function defineRecord({ definitions }: Planned): Uint8Array {
  const text = JSON.stringify(definitions.map(definitionText));
  return Buffer.concat([Buffer.from([DEFINE]), Buffer.from(text, "utf8")]);
}

function definitionsIn(record: Uint8Array): NodeDefinition[] {
  const text = Buffer.from(record.buffer, record.byteOffset + 1, record.byteLength - 1).toString("utf8");
  return (JSON.parse(text) as string[]).map((each) => definitionOf<NodeDefinition>(each));
}

function withRows(command: Command, rows: Batch): Command {
  if (command.kind !== "push") return command;
  return { kind: "push", pushes: command.pushes.map((push) => ({ ...push, rows })) };
}
