import { HeadwaterError } from "../../errors.js";
import type { Batch } from "../columns/index.js";
import { isRefused, type PushAnswer, type Refused, refusedBy } from "./answers.js";
import { backfill, unready } from "./backfill.js";
import { misdefined, misproduced } from "./check.js";
import { type Command, decodeCommand, type Push } from "./command.js";
import { Cursors } from "./cursors.js";
import type { QueryDefinition, StreamDefinition } from "./definition.js";
import type { GraphMoment } from "./moment.js";
import { GraphNodes } from "./nodes.js";
import { type PartitionRecords, PartitionWork } from "./partition-work.js";
import { type CheckpointPart, groupedByOwner, jsonOf, jsonPart, named } from "./parts.js";
import { type QueryNode, queryNode } from "./query-node.js";
import type { Holds, Released } from "./released.js";
import { RoundRows } from "./round-rows.js";

/** What came of a command. */
export interface CommandOutcome {
  /** One for each push of the command. */
  readonly answers: readonly PushAnswer[];
  /** Why the command was refused; it has changed nothing then. */
  readonly refused: Refused | null;
  /** The streams that have new rows, and the number that their next row gets. */
  readonly grown: readonly (readonly [name: string, next: number])[];
  /** What partitions have to do now; their replies are the next command, before any other. */
  readonly work: PartitionRecords | null;
}

/** The same before it is made to data that can be sent. */
export interface Carried extends Pick<CommandOutcome, "answers" | "refused"> {
  readonly grown: GraphMoment["grown"];
}

/** The same with the new rows themselves, for a caller that sends them on at once: kept, they would outlive their round. */
export interface Applied extends CommandOutcome {
  readonly brought: GraphMoment["grown"];
}

const META = "graph";
/** So much that was given up is worth a checkpoint without it. */
const GIVEN_UP_MIN = 64 * 1024;

interface Meta {
  readonly round: number;
  readonly cursors: Cursors["state"];
  /** Left out by earlier versions. */
  readonly digest?: number;
  /** What each stream retains at most; left out if there is no limit. */
  readonly bytesMax?: number;
}

/**
 * The streams and standing queries of one tenant that are connected, and the unit of order among them. It is a pure state
 * machine: commands go in as records (`command.ts`), and the same records give the same graph, the same results, and the same
 * numbers. A batch goes through all queries that read its stream, and queries that read their results, in one round, in the
 * order in which they were registered: a query can read only what was there before it, so this order is topological.
 */
export class GraphEngine {
  readonly nodes = new GraphNodes();
  readonly #cursors = new Cursors();
  readonly #work = new PartitionWork();
  #round = 0;
  #digest = 0;
  /** Much is not retained any more that the last checkpoint has. */
  #hasGivenUp = false;

  get memoryBytes(): number {
    return this.nodes.memoryBytes;
  }

  /** Stands for all rows that it has put out, with their numbers: graphs with the same records have the same. */
  get digest(): number {
    return this.#digest;
  }

  get isCheckpointDue(): boolean {
    return this.#hasGivenUp;
  }

  apply(record: Uint8Array): Applied {
    const { timeMs, command } = decodeCommand(record);
    const { refused, answers, grown } = this.carryOut(command, timeMs);
    const names = [...grown.keys()].map(({ name, log }) => [name, log.next] as const);
    return { refused, answers, grown: names, work: this.#work.take(), brought: grown };
  }

  /** The same as `apply` for a command that is not a record, with the new rows themselves. */
  carryOut(command: Command, timeMs: number): Carried {
    if (command.kind !== "replies") this.#round++; // else the round of the command before goes on
    const moment: GraphMoment = { round: this.#round, timeMs, grown: new Map() };
    const { refused = null, answers = [] } = this.#carryOut(command, moment);
    for (const channel of moment.grown.keys()) this.#digest = channel.addTo(this.#digest);
    return { refused, answers, grown: moment.grown };
  }

  /** Appends rows to the log of a stream without event time. What reads the stream gets them later, by `feed`. */
  log(name: string, bytes: Uint8Array, rows: number, timeMs: number): void {
    this.#round++;
    const moment: GraphMoment = { round: this.#round, timeMs, grown: new Map() };
    this.nodes.source(name)?.channel.keep(bytes, rows, moment);
  }

  /** Gives rows that are in the log to what reads their stream. */
  feed(rows: readonly (readonly [name: string, batch: Batch])[], timeMs: number): void {
    for (const [name, batch] of rows)
      for (const reader of this.nodes.readersOf(name)) reader.push(name, batch, timeMs);
    this.#settle({ round: this.#round, timeMs, grown: new Map() });
  }

  #carryOut(
    command: Command,
    moment: GraphMoment,
  ): { readonly refused?: Refused | null; readonly answers?: readonly PushAnswer[] } {
    switch (command.kind) {
      case "push":
        return { answers: this.#push(command.pushes, moment) };
      case "define stream":
        return { refused: this.#defineStream(command.definition) };
      case "define query":
        return { refused: this.#defineQuery(command.definition, moment) };
      case "remove":
        return { refused: this.#remove(command.name) };
      case "seal":
        return { refused: this.#seal(command, moment) };
      case "producers":
        return { refused: this.#declare(command, moment) };
      case "receive":
        this.#receive(command, moment);
        return {};
      case "tick":
        this.#tick(moment);
        return {};
      case "retain":
        this.#retain(command.bytes, moment);
        return {};
      case "replies":
        this.#gather(command.replies, moment);
        return {};
      case "cursor":
        return { refused: this.#moveCursor(command) };
    }
  }

  #moveCursor({ name, stream, position }: Extract<Command, { kind: "cursor" }>): Refused | null {
    const channel = this.nodes.channel(stream);
    if (channel === null) return position === null ? null : this.nodes.missing(stream);
    this.#cursors.set(name, stream, position);
    channel.heldFrom = this.#cursors.first(stream);
    return null;
  }

  #push(pushes: readonly Push[], moment: GraphMoment): PushAnswer[] {
    const rows = new RoundRows();
    const answers = pushes.map((push) => this.#pushOne(push, moment, rows));
    for (const { stream, changes } of rows.parts)
      for (const reader of this.nodes.readersOf(stream))
        if (!reader.isSealed && changes !== null) reader.push(stream, changes, moment.timeMs);
    this.#release(
      rows.parts.flatMap(({ stream, released }) => (released === null ? [] : [[stream, released] as const])),
      moment,
    );
    for (const name of new Set(pushes.map(({ stream }) => stream))) this.#advance(name, moment.timeMs);
    this.#settle(moment);
    return answers;
  }

  #pushOne(push: Push, moment: GraphMoment, rows: RoundRows): PushAnswer {
    const source = this.nodes.source(push.stream);
    if (source === null) return this.nodes.missing(push.stream);
    if (source.definition.origin !== undefined) return notYours(push.stream);
    try {
      const { answer, changes, released } = source.push(push, moment);
      rows.add(push.stream, changes, released);
      return answer;
    } catch (error) {
      // The bytes of a batch are checked before anything is changed.
      if (!(error instanceof HeadwaterError) || error.code !== "HW-5301") throw error;
      return refusedBy(error);
    }
  }

  #defineStream(definition: StreamDefinition): Refused | null {
    const refused = misdefined(definition) ?? this.nodes.taken(definition.name);
    if (refused === null) this.nodes.addSource(definition);
    return refused;
  }

  #defineQuery(definition: QueryDefinition, moment: GraphMoment): Refused | null {
    const refused =
      misdefined(definition) ??
      this.nodes.taken(definition.name) ??
      definition.inputs.flatMap((name) =>
        this.nodes.channel(name) === null ? [this.nodes.missing(name)] : [],
      )[0] ??
      unready(definition, this.nodes);
    if (refused !== null) return refused;
    const { nodes } = this;
    const first = (name: string) => nodes.firstOf(name);
    const node = queryNode(definition, nodes.specs(definition.inputs), first, nodes.sealsOf);
    if (isRefused(node)) return node;
    this.nodes.addQuery(node);
    if (node.isDivided) this.#work.define(node);
    backfill(node, this.nodes, moment);
    if (node.isDivided) this.#work.run(node);
    return null;
  }

  #remove(name: string): Refused | null {
    if (!this.nodes.has(name)) return this.nodes.missing(name);
    const users = this.nodes.readersOf(name).map(({ definition }) => definition.name);
    if (users.length > 0)
      return {
        code: "HW-5404",
        message: `"${name}" is read by ${users.join(", ")}. Deregister what reads it first.`,
      };
    const outputs = this.nodes.channelsOf(name).flatMap((channel) => this.#cursors.of(channel.name));
    if (outputs.length > 0)
      return {
        code: "HW-5404",
        message: `"${name}" is delivered by the outputs ${outputs.join(", ")}. Deregister them first.`,
      };
    const query = this.nodes.query(name);
    if (query?.isDivided === true) this.#work.remove(query);
    this.nodes.remove(name);
    return null;
  }

  #seal({ stream, producer, upTo }: Extract<Command, { kind: "seal" }>, moment: GraphMoment): Refused | null {
    const source = this.nodes.source(stream);
    if (source === null) return this.nodes.missing(stream);
    if (source.definition.origin !== undefined) return notYours(stream);
    const sealed = source.seal(producer, upTo, moment);
    if (sealed !== null && isRefused(sealed)) return sealed;
    if (sealed !== null) this.#release([[stream, sealed]], moment);
    this.#advance(stream, moment.timeMs);
    this.#settle(moment);
    return null;
  }

  #declare({ stream, producers }: Extract<Command, { kind: "producers" }>, moment: GraphMoment) {
    const source = this.nodes.source(stream);
    if (source === null) return this.nodes.missing(stream);
    const released = misproduced(producers) ?? source.declare(producers, moment);
    if (released !== null && isRefused(released)) return released;
    if (released !== null) this.#release([[stream, released]], moment);
    this.#settle(moment);
    return null;
  }

  /** Gives whole partitions to the queries that wait for them: all that this round has completed. */
  #release(round: readonly (readonly [stream: string, released: Released])[], { timeMs }: GraphMoment): void {
    const isNew = (stream: string, key: string) =>
      round.some(([name, { keys }]) => name === stream && keys.includes(key));
    const hold = (stream: string) => this.nodes.source(stream)?.hold ?? null;
    const holds: Holds = {
      isOver: (stream, key) => !isNew(stream, key) && hold(stream)?.status(key).state === "sealed",
      isFinished: (stream) => hold(stream)?.isFinished ?? false,
    };
    for (const [stream, released] of round)
      for (const reader of this.nodes.readersOf(stream)) reader.release(stream, released, holds, timeMs);
  }

  /** Rows that were on their way when their stream was released find it gone. */
  #receive({ stream, batches, watermark }: Extract<Command, { kind: "receive" }>, moment: GraphMoment): void {
    const source = this.nodes.source(stream);
    if (source === null) return;
    for (const bytes of batches) {
      const batch = source.receive(bytes, moment);
      for (const reader of this.nodes.readersOf(stream)) reader.push(stream, batch, moment.timeMs);
    }
    if (watermark !== null && source.definition.time !== null) {
      source.seal("", watermark, moment);
      this.#advance(stream, moment.timeMs);
    }
    this.#settle(moment);
  }

  #tick(moment: GraphMoment): void {
    for (const source of this.nodes.sources) {
      source.expire(moment.timeMs);
      this.#advance(source.definition.name, moment.timeMs);
    }
    for (const channel of this.nodes.channels) channel.trim(moment.timeMs);
    for (const node of this.nodes.queries) node.tick(moment.timeMs);
    this.#settle(moment);
  }

  #retain(bytes: number | null, { timeMs }: GraphMoment): void {
    const before = this.nodes.retainedBytes;
    this.nodes.retain(bytes ?? Number.POSITIVE_INFINITY, timeMs);
    const after = this.nodes.retainedBytes;
    if (before - after > Math.max(GIVEN_UP_MIN, after / 8)) this.#hasGivenUp = true;
  }

  #advance(name: string, timeMs: number): void {
    const source = this.nodes.source(name);
    if (source === null || !source.advance(timeMs) || source.channel.watermark === null) return;
    for (const reader of this.nodes.readersOf(name)) reader.watermark(name, source.channel.watermark);
  }

  /**
   * Lets everything that waits go through the queries. What reads a query that is divided waits until the replies of its
   * partitions are there, so that it sees the same rounds as if the query were not divided.
   */
  #settle(moment: GraphMoment): void {
    const unready = new Set<string>();
    for (const node of this.nodes.queries) {
      const { name, inputs } = node.definition;
      if (inputs.some((input) => unready.has(input))) unready.add(name);
      else if (node.hasWork) {
        this.#handOn(node, node.run(moment), moment);
        if (!node.isDivided) continue;
        this.#work.run(node);
        unready.add(name);
      }
    }
  }

  #gather(replies: PartitionRecords, moment: GraphMoment): void {
    for (const { query, results } of this.#work.replied(replies)) {
      const node = this.nodes.query(query);
      if (node !== null) this.#handOn(node, node.gather(results, moment), moment);
    }
    this.#settle(moment);
  }

  #handOn(node: QueryNode, { results, isAdvanced }: ReturnType<QueryNode["run"]>, moment: GraphMoment): void {
    const { name } = node.definition;
    for (const reader of this.nodes.readersOf(name)) {
      for (const batch of results) reader.push(name, batch, moment.timeMs);
      if (isAdvanced && node.out.watermark !== null) reader.watermark(name, node.out.watermark);
    }
  }

  *checkpoint(): Generator<CheckpointPart> {
    this.#hasGivenUp = false;
    const { bytesMax } = this.nodes;
    const meta: Meta = {
      ...{ round: this.#round, digest: this.#digest, cursors: this.#cursors.state },
      ...(Number.isFinite(bytesMax) ? { bytesMax } : {}),
    };
    yield* named("", [[META, jsonPart(meta)]]);
    yield* this.nodes.checkpoint();
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    const owners = groupedByOwner(parts);
    const meta = jsonOf<Meta>(owners.get("")?.get(META));
    if (meta === null) return;
    this.#round = meta.round;
    this.#digest = meta.digest ?? 0;
    this.nodes.load(owners);
    this.nodes.keepWithin(meta.bytesMax ?? Number.POSITIVE_INFINITY);
    for (const [name, stream, position] of meta.cursors) this.#cursors.set(name, stream, position);
    for (const channel of this.nodes.channels) channel.heldFrom = this.#cursors.first(channel.name);
  }
}

function notYours(name: string): Refused {
  return { code: "HW-5403", message: `"${name}" is a stream of another tenant, who alone pushes into it.` };
}
