import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import type { Key } from "../../model/key.js";
import { readonly } from "../../model/marks.js";
import { type OwnedOptions, owned } from "../../model/owned.js";
import { tellQueryFacts } from "../../model/query-facts.js";
import { tracked } from "../../model/tracked.js";
import type { Carried } from "../graph/index.js";
import type { Definitions } from "./definitions.js";
import { ProgramEngine } from "./engine.js";
import { addFollower, type Followed, followed, takeFollowers } from "./follow.js";
import { type Camel, type Changes, camel, type Methods, type ReadRange } from "./methods.js";
import { type Planned, planned } from "./plan.js";
import { defineRecord, pushRecord, tickRecord } from "./records.js";
import { boundOf, cellsOf, changesOf, rowOf } from "./rows.js";

/** How often idle streams with an event time are looked at; quiet ones less and less often. */
const TICK_MS = 1000;
const TICK_MS_MAX = 60_000;
const ROWS_MAX = 10_000;

/** What a class that holds queries is, besides the methods that its definitions give it. */
export abstract class QueriesContext<D extends Definitions, K extends Key = never> extends Context<K> {
  protected queryEngine = owned(() => new ProgramEngine(), plannedOf(this.constructor).options);
  /** Clients that are to be told once when a query has results: "query caller". */
  protected queryFollowers = tracked.set<string>();
  protected queryTick: { readonly afterMs: number; readonly position: number } | null = null;

  /**
   * Gets the results of every `query` that a push or the time has brought, in the same event: it may start events, send messages
   * and call contexts below. Override it; by default, nothing happens.
   */
  protected changed(_changes: Changes<D>): void | Promise<void> {}

  /** The timer's event that lets event time go on where streams are idle. */
  protected tickQueries(): void | Promise<void> {
    const { position } = this.queryEngine;
    const isQuiet = this.queryTick?.position === position;
    const afterMs = isQuiet ? Math.min(2 * (this.queryTick?.afterMs ?? TICK_MS), TICK_MS_MAX) : TICK_MS;
    const done = QueriesContext.carryOut(this, tickRecord(this.event.time));
    this.queryTick = { afterMs, position: this.queryEngine.position };
    this.event.after(afterMs, this.tickQueries);
    return done;
  }

  /** @internal */
  static push(self: AnyQueries, name: string, rows: readonly unknown[]): void | Promise<void> {
    const { schemas, hasTime } = plannedOf(self.constructor);
    const schema = schemas.get(name) ?? [];
    const cells = rows.map((row, i) => cellsOf(name, schema, row, i));
    if (cells.length === 0) return;
    const done = QueriesContext.carryOut(self, pushRecord(name, schema, cells, self.event.time));
    if (hasTime && self.queryTick === null) {
      self.queryTick = { afterMs: TICK_MS, position: 0 };
      self.event.after(TICK_MS, self.tickQueries);
    }
    return done;
  }

  /** @internal */
  static read(self: AnyQueries, name: string, { key, from, to, limit = ROWS_MAX }: ReadRange) {
    return self.queryEngine.read((engine) => {
      const { schema, rows } = engine.seenBy(plannedOf(self.constructor)).nodes.channel(name) ?? {
        schema: [],
        rows: null,
      };
      const columns = (rows?.key ?? schema.keys()) as Iterable<number>;
      const keys = [...columns].flatMap((i) => schema[i] ?? []);
      const [low, high] = [boundOf(name, keys, key ?? from), boundOf(name, keys, key ?? to)];
      return (rows?.range(low, high, limit) ?? []).map((cells) => rowOf(schema, cells));
    });
  }

  /** @internal */
  static follow(self: AnyQueries, name: string, from: unknown): Followed<unknown> {
    const topic = `${self.event.address}/${name}`;
    const page = self.queryEngine.read((engine) =>
      followed(engine.seenBy(plannedOf(self.constructor)), name, from, topic),
    );
    const { caller } = self.event;
    if (page.rows.length === 0 && caller !== undefined) addFollower(self.queryFollowers, name, caller);
    return page;
  }

  private static carryOut(self: AnyQueries, record: Uint8Array): void | Promise<void> {
    const own = plannedOf(self.constructor);
    if (!self.queryEngine.read((engine) => engine.isRecorded(own))) self.queryEngine.apply(defineRecord(own));
    const carried = self.queryEngine.apply(record);
    const [answer] = carried.answers;
    if (answer !== undefined && "code" in answer) throw new HeadwaterError(answer.code, answer.message);
    return QueriesContext.heard(self, own, carried);
  }

  private static heard(self: AnyQueries, { heard }: Planned, { grown }: Carried): void | Promise<void> {
    const isOverridden = self.changed !== QueriesContext.prototype.changed;
    let changes: Record<string, unknown> | null = null;
    for (const [{ name, schema, log }, batches] of grown) {
      if (!heard.has(name)) continue;
      if (self.queryFollowers.size > 0)
        for (const caller of takeFollowers(self.queryFollowers, name))
          self.event.send(caller, { topic: `${self.event.address}/${name}`, next: log.next });
      if (!isOverridden) continue;
      const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
      changes ??= {};
      changes[camel(name)] = changesOf(schema, batches, log.next - rows);
    }
    if (changes !== null) return self.changed(changes);
  }
}

type AnyQueries = QueriesContext<Definitions, Key>;

const plans = new WeakMap<object, Planned & { readonly options: OwnedOptions }>();

/** By the class that `Queries` has made, which the context's own class extends. */
function plannedOf(cls: { readonly name: string }): Planned & { readonly options: OwnedOptions } {
  for (let at: object | null = cls; at !== null; at = Object.getPrototypeOf(at) as object) {
    const found = plans.get(at);
    if (found !== undefined) return found;
  }
  throw new HeadwaterError("HW-1017", `${cls.name} does not extend what Queries(…) returns.`);
}

/** The class that `Queries` makes. A context with a key extends it with the type of the key: `Queries({ … })<string>`. */
export type QueriesClass<D extends Definitions> = new <K extends Key = never>() => QueriesContext<D, K> &
  Methods<D>;

/**
 * A context class with streams, tables, views and standing queries in it: `class Market extends Queries({ … })`. It has a method
 * to push into each stream and table (`pushBids`), one to read each table and view (`readLeaders`), and one to follow the
 * results of each query from outside (`followAlerts`). The definitions are checked at once.
 */
export function Queries<const D extends Definitions>(
  definitions: D,
  options: OwnedOptions = {},
): QueriesClass<D> {
  const made = class extends QueriesContext<D, Key> {};
  const methods: Record<string, (this: AnyQueries, ...args: never[]) => unknown> = {};
  for (const [name, { kind }] of Object.entries(definitions)) {
    if (kind === "stream" || kind === "table")
      methods[methodName("push", name)] = function (...rows: unknown[]) {
        return QueriesContext.push(this, name, rows);
      };
    if (kind === "table" || kind === "view") {
      const read = function (this: AnyQueries, range: ReadRange = {}) {
        return QueriesContext.read(this, name, range);
      };
      readonly(read);
      methods[methodName("read", name)] = read;
    }
    if (kind === "query")
      methods[methodName("follow", name)] = function (from: unknown = 1) {
        return QueriesContext.follow(this, name, from);
      };
  }
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(value, "name", { value: name });
    Object.defineProperty(made.prototype, name, { value, writable: true, configurable: true });
  }
  const plan = planned(definitions);
  plans.set(made, { ...plan, options });
  tellQueryFacts(made, plan.facts);
  return made as unknown as QueriesClass<D>;
}

function methodName<N extends string>(verb: string, name: N): string {
  const word: Camel<N> = camel(name);
  return `${verb}${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
