import { didYouMean } from "../../suggest.js";
import type { InputSpec } from "../plan/index.js";
import type { Refused } from "./answers.js";
import type { Channel } from "./channel.js";
import { definitionOf, definitionText, type QueryDefinition, type StreamDefinition } from "./definition.js";
import { fairLevel } from "./fair-level.js";
import { type CheckpointPart, jsonOf, jsonPart, named, type OwnParts } from "./parts.js";
import { QueryNode } from "./query-node.js";
import { Source } from "./source.js";

const INDEX = "nodes";
const DEFINITION = "definition";
/** So many names of streams that are gone are remembered, with the number that their next row would have had. */
const RETIRED_MAX = 1000;

interface Index {
  readonly names: readonly string[];
  readonly retired: readonly (readonly [string, number])[];
  readonly floor: number;
}

/** What a graph consists of: sources and queries by name, in the order of registration, and who reads whom. */
export class GraphNodes {
  readonly #nodes = new Map<string, Source | QueryNode>();
  readonly #readers = new Map<string, QueryNode[]>();
  #channels: readonly Channel[] = [];
  #byName: ReadonlyMap<string, Channel> = new Map();
  #queries: readonly QueryNode[] = [];
  /** Numbers go on where they were when a name is used again: so no reader takes a new row for an old one. */
  #retired = new Map<string, number>();
  #floor = 1;
  /** What the next checkpoint writes or deletes besides the nodes' own parts. */
  #added = new Set<string>();
  #removed = new Map<string, Set<string>>();
  #parts = new Map<string, Set<string>>();
  #isChanged = false;
  /** What each stream retains at most, whatever its retention says. */
  #bytesMax = Number.POSITIVE_INFINITY;

  get bytesMax(): number {
    return this.#bytesMax;
  }

  /** What the streams retain of their rows. */
  get retainedBytes(): number {
    return this.#channels.reduce((sum, { log }) => sum + log.bytes, 0);
  }

  /** All streams together retain so many bytes at most: large ones give up rows first. */
  retain(bytes: number, timeMs: number): void {
    this.#bytesMax = fairLevel(
      this.#channels.map(({ log }) => log.bytes),
      bytes,
    );
    for (const channel of this.#channels) channel.limit(this.#bytesMax, timeMs);
  }

  /** After a checkpoint was loaded, whose rows were within it. */
  keepWithin(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    for (const channel of this.#channels) channel.bytesMax = bytesMax;
  }

  get channels(): readonly Channel[] {
    return this.#channels;
  }

  get queries(): readonly QueryNode[] {
    return this.#queries;
  }

  get sources(): readonly Source[] {
    return [...this.#nodes.values()].filter((node) => node instanceof Source);
  }

  get memoryBytes(): number {
    let sum = 0;
    for (const { memoryBytes } of this.#nodes.values()) sum += memoryBytes;
    return sum;
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  source(name: string): Source | null {
    const node = this.#nodes.get(name);
    return node instanceof Source ? node : null;
  }

  query(name: string): QueryNode | null {
    const node = this.#nodes.get(name);
    return node instanceof QueryNode ? node : null;
  }

  /** A stream, a table, the output of a query, or `NAME.late` and `NAME.errors` of a query. */
  channel(name: string): Channel | null {
    return this.#byName.get(name) ?? null;
  }

  /** The channels of a stream, a table or a query. */
  channelsOf(name: string): readonly Channel[] {
    const node = this.#nodes.get(name);
    return node === undefined ? [] : channelsOf(node);
  }

  readersOf(name: string): readonly QueryNode[] {
    return this.#readers.get(name) ?? [];
  }

  isAppendOnly(name: string): boolean {
    const node = this.#nodes.get(name);
    return node instanceof QueryNode ? node.isAppendOnly : node?.definition.kind !== "table";
  }

  taken(name: string): Refused | null {
    const names = [name, `${name}.late`, `${name}.errors`];
    if (!names.some((each) => this.channel(each) !== null)) return null;
    return {
      code: "HW-5402",
      message: `there is a "${name}" already. Choose another name, or deregister it.`,
    };
  }

  missing(name: string): Refused {
    const shown = JSON.stringify(name.slice(0, 80));
    return {
      code: "HW-5401",
      message: `there is no stream or query ${shown}.${didYouMean(name, [...this.#nodes.keys()])}`,
    };
  }

  /** What queries are told of these inputs. */
  specs(names: readonly string[]): Readonly<Record<string, InputSpec>> {
    const specs = names.flatMap((name): [string, InputSpec][] => {
      const node = this.#nodes.get(name);
      if (node instanceof QueryNode) return [[name, node.spec]];
      if (node === undefined) return [];
      const { columns, time, origin } = node.definition;
      const { kind, key } = origin ?? node.definition;
      return [[name, { schema: columns, timeColumn: time?.column ?? null, kind, key: key ?? [] }]];
    });
    return Object.fromEntries(specs);
  }

  /** The columns by which the partitions of a stream are sealed, in the order in which its seals name them. */
  readonly sealsOf = (name: string): readonly number[] => this.source(name)?.hold?.seals.columns ?? [];

  /** The number of the first row of a new stream. */
  firstOf(name: string): number {
    return this.#retired.get(name) ?? this.#floor;
  }

  addSource(definition: StreamDefinition): void {
    this.#add(definition.name, new Source(definition, this.firstOf(definition.name)));
  }

  /** Puts another source in the place of one that nothing reads any more. */
  replaceSource(source: Source): void {
    this.remove(source.definition.name);
    this.#add(source.definition.name, source);
  }

  addQuery(node: QueryNode): void {
    this.#add(node.definition.name, node);
  }

  #add(name: string, node: Source | QueryNode): void {
    this.#nodes.set(name, node);
    this.#added.add(name);
    for (const channel of channelsOf(node)) {
      this.#retired.delete(channel.name);
      channel.bytesMax = this.#bytesMax;
    }
    this.#changed();
  }

  remove(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    for (const { name: own, log } of channelsOf(node)) if (log.next > 1) this.#retired.set(own, log.next);
    for (const [oldest, next] of this.#retired) {
      if (this.#retired.size <= RETIRED_MAX) break;
      this.#retired.delete(oldest);
      this.#floor = Math.max(this.#floor, next);
    }
    this.#nodes.delete(name);
    this.#added.delete(name);
    const parts = this.#parts.get(name);
    this.#parts.delete(name);
    if (parts !== undefined) this.#removed.set(name, parts);
    this.#changed();
  }

  #changed(): void {
    this.#isChanged = true;
    const nodes = [...this.#nodes.values()];
    this.#queries = nodes.filter((node) => node instanceof QueryNode);
    this.#channels = nodes.flatMap(channelsOf);
    this.#byName = new Map(this.#channels.map((channel) => [channel.name, channel]));
    this.#readers.clear();
    for (const query of this.#queries)
      for (const input of new Set(query.definition.inputs)) {
        const readers = this.#readers.get(input) ?? [];
        this.#readers.set(input, readers);
        readers.push(query);
      }
  }

  *checkpoint(): Generator<CheckpointPart> {
    for (const [name, parts] of this.#removed) {
      // A node of the same name that came since writes some of these parts anew: it does so below, later.
      for (const part of parts) yield* named(name, [[part, null]]);
    }
    this.#removed.clear();
    if (this.#isChanged) {
      const index: Index = {
        names: [...this.#nodes.keys()],
        retired: [...this.#retired],
        floor: this.#floor,
      };
      yield* named("", [[INDEX, jsonPart(index)]]);
      this.#isChanged = false;
    }
    for (const [name, node] of this.#nodes) yield* named(name, this.#noted(name, this.#partsOf(name, node)));
    this.#added.clear();
  }

  *#partsOf(name: string, node: Source | QueryNode): Generator<CheckpointPart> {
    if (this.#added.has(name)) yield [DEFINITION, Buffer.from(definitionText(node.definition), "utf8")];
    yield* node.checkpoint();
  }

  /** Remembers the parts of a node, to delete them when it is removed. */
  *#noted(owner: string, parts: Iterable<CheckpointPart>): Generator<CheckpointPart> {
    const known = this.#parts.get(owner) ?? new Set<string>();
    this.#parts.set(owner, known);
    for (const [name, bytes] of parts) {
      if (bytes === null) known.delete(name);
      else known.add(name);
      yield [name, bytes];
    }
  }

  load(owners: ReadonlyMap<string, OwnParts>): void {
    const index = jsonOf<Index>(owners.get("")?.get(INDEX));
    if (index === null) return;
    this.#floor = index.floor;
    for (const name of index.names) {
      const parts = owners.get(name);
      const text = parts?.get(DEFINITION);
      if (parts === undefined || text === undefined) continue;
      const definition = definitionOf<StreamDefinition | QueryDefinition>(Buffer.from(text).toString("utf8"));
      const node =
        "columns" in definition
          ? new Source(definition, 1)
          : new QueryNode(definition, this.specs(definition.inputs), () => 1, this.sealsOf);
      this.#nodes.set(name, node);
      node.load(parts);
      this.#parts.set(name, new Set(parts.keys()));
    }
    this.#changed();
    this.#isChanged = false;
    this.#retired = new Map(index.retired);
  }
}

function channelsOf(node: Source | QueryNode): readonly Channel[] {
  return node instanceof Source ? [node.channel] : node.channels;
}
