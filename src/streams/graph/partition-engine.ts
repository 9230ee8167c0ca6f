import { createHash } from "node:crypto";
import { ByteReader, ByteWriter } from "../columns/index.js";
import type { InputSpec } from "../plan/index.js";
import { definitionOf, definitionText, type QueryDefinition } from "./definition.js";
import { type CheckpointPart, groupedByOwner, jsonOf, jsonPart, named, partsBelow } from "./parts.js";
import { encodeResults, feed } from "./round.js";
import { RunningQuery } from "./running-query.js";
import { readBytes, readText, writeBytes, writeText } from "./texts.js";

type Inputs = Readonly<Record<string, InputSpec>>;

/** What a partition is told of a query. */
export type PartitionCommand =
  | {
      readonly kind: "define";
      readonly query: string;
      readonly definition: QueryDefinition;
      readonly inputs: Inputs;
    }
  | { readonly kind: "remove"; readonly query: string }
  | { readonly kind: "run"; readonly query: string; readonly round: Uint8Array };

const KINDS: readonly PartitionCommand["kind"][] = ["define", "remove", "run"];
const DEFINITION = "definition";
const INPUTS = "inputs";
const QUERY_PARTS = "query/";
const RESULTS = "results";

export function encodePartitionCommand(command: PartitionCommand): Buffer {
  const out = new ByteWriter();
  out.u8(KINDS.indexOf(command.kind));
  writeText(out, command.query);
  if (command.kind === "define") {
    writeText(out, definitionText(command.definition));
    writeText(out, JSON.stringify(command.inputs));
  } else if (command.kind === "run") writeBytes(out, command.round);
  return out.written;
}

/** One partition of a query, with what was written of it when it was defined. */
interface Held {
  readonly running: RunningQuery;
  readonly definition: QueryDefinition;
  readonly inputs: Inputs;
  isSaved: boolean;
  /** The names of its parts in the last checkpoint. */
  parts: Set<string>;
}

/**
 * One partition of every query of a graph that is divided: operators that are fed by the graph, round by round. Like a graph it
 * is a pure state machine over records, and the owned state of a context of its own, which can be on another host.
 */
export class PartitionEngine {
  readonly #held = new Map<string, Held>();
  #gone = new Map<string, Set<string>>();
  #digest = 0;

  /** Stands for the results of all rounds: partitions with the same records have the same. */
  get digest(): number {
    return this.#digest;
  }

  get memoryBytes(): number {
    let sum = 0;
    for (const { running } of this.#held.values()) sum += running.memoryBytes;
    return sum;
  }

  /** The results of the round; nothing for other commands. */
  apply(record: Uint8Array): Uint8Array {
    const input = new ByteReader(Buffer.from(record.buffer, record.byteOffset, record.byteLength));
    const kind = KINDS[input.u8()];
    const query = readText(input);
    if (kind === "define") {
      const definition = definitionOf<QueryDefinition>(readText(input));
      this.#define(query, definition, JSON.parse(readText(input)) as Inputs);
    } else if (kind === "remove") this.#remove(query);
    else return this.#run(query, readBytes(input));
    return new Uint8Array();
  }

  #define(query: string, definition: QueryDefinition, inputs: Inputs): void {
    const running = new RunningQuery(definition, inputs);
    this.#held.set(query, { running, definition, inputs, isSaved: false, parts: new Set() });
  }

  #remove(query: string): void {
    const held = this.#held.get(query);
    this.#held.delete(query);
    if (held !== undefined && held.parts.size > 0) this.#gone.set(query, held.parts);
  }

  #run(query: string, round: Uint8Array): Uint8Array {
    const held = this.#held.get(query);
    if (held === undefined) throw new Error(`a partition of ${query} is fed and was never defined`);
    feed(held.running, round);
    const results = encodeResults(held.running.run());
    // Not a CRC: batches end with their own, so that it would be the same for all of them.
    const sum = createHash("sha256").update(String(this.#digest)).update(results);
    this.#digest = sum.digest().readUIntBE(0, 6);
    return results;
  }

  *checkpoint(): Generator<CheckpointPart> {
    for (const [query, parts] of this.#gone) for (const part of parts) yield* named(query, [[part, null]]);
    this.#gone = new Map();
    yield* named("", [[RESULTS, jsonPart(this.#digest)]]);
    for (const [query, held] of this.#held) yield* named(query, this.#partsOf(held));
  }

  *#partsOf(held: Held): Generator<CheckpointPart> {
    const { running, definition, inputs, parts } = held;
    if (!held.isSaved) {
      held.isSaved = true;
      parts.add(DEFINITION).add(INPUTS);
      yield [DEFINITION, Buffer.from(definitionText(definition), "utf8")];
      yield [INPUTS, jsonPart(inputs)];
    }
    for (const part of running.checkpoint(QUERY_PARTS)) {
      if (part[1] === null) parts.delete(part[0]);
      else parts.add(part[0]);
      yield part;
    }
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    for (const [query, own] of groupedByOwner(parts)) {
      if (query === "") this.#digest = jsonOf<number>(own.get(RESULTS)) ?? 0;
      const text = own.get(DEFINITION);
      const inputs = jsonOf<Inputs>(own.get(INPUTS));
      if (text === undefined || inputs === null) continue;
      const definition = definitionOf<QueryDefinition>(Buffer.from(text).toString("utf8"));
      const running = new RunningQuery(definition, inputs);
      running.load(partsBelow(own, QUERY_PARTS));
      this.#held.set(query, { running, definition, inputs, isSaved: true, parts: new Set(own.keys()) });
    }
  }
}
