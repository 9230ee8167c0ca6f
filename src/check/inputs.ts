/** Records for the streams from outside: from samples, or from few values, so that keys meet. */

import type { AttributeType, ColumnTypes, Dataflow, Dependency, Stream } from "../analysis/graph.js";
import type { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { canonical } from "./records.js";
import type { Repeated } from "./shrink.js";

/** Equal records. */
export interface Bulk extends Repeated {
  readonly record: DataRecord;
}

/** What comes from outside in a run, by stream. */
export type RunInputs = ReadonlyMap<string, readonly Bulk[]>;

/** A stream from outside: how its records are made, and how many equal ones are worth a try. */
export interface RecordSource {
  readonly make: MakeRecord;
  readonly sizes: readonly number[];
}

/** How many values attributes have: with one, all records meet; with three, few do. */
const VALUES = [1, 2, 2, 3] as const;
const VALUES_MAX = 3;
const BULKS_PER_STREAM_MAX = 5;
/** How often there are many equal records instead of one. */
const MANY = 0.25;

/** How to make a record of a stream; `null` if its attributes are unknown. */
export type MakeRecord = (chance: Chance, values: number) => DataRecord;

/** Values of each type, such that texts do not stand in the order of the numbers that they show. */
const POOLS: Readonly<Record<AttributeType, readonly unknown[]>> = {
  number: [0, 1, 2],
  time: [0, 3_600_000, 86_400_000],
  instant: [0, 3_600_000, 86_400_000],
  text: ["10", "9", "b"],
  boolean: [false, true],
};

export function makerFor(
  attributes: readonly string[] | null,
  types: ColumnTypes,
  sample: readonly DataRecord[] | undefined,
  dependencies: readonly Dependency[],
): MakeRecord | null {
  const [first, ...rest] = sample ?? [];
  if (first !== undefined) return (chance) => chance.pick([first, ...rest]);
  if (attributes === null) return null;
  return (chance, values) => {
    const drawn = Object.fromEntries(attributes.map((attribute) => [attribute, chance.int(values)]));
    const numbers = kept(drawn, dependencies);
    return Object.fromEntries(
      Object.entries(numbers).map(([attribute, nth]) => {
        const pool = POOLS[types[attribute] ?? "number"];
        return [attribute, pool[nth] ?? nth];
      }),
    );
  };
}

/** The attributes of the records at an input, from the stream itself or from the query that reads it. */
export function attributesAt(graph: Dataflow, stream: Stream): readonly string[] | null {
  if (stream.attributes !== undefined) return stream.attributes;
  const { to } = stream;
  const reader = graph.components.find(({ name }) => name === to?.component)?.runs;
  if (to === null || reader === undefined || !("sql" in reader)) return null;
  return reader.tables[to.interface] ?? null;
}

export function typesAt(graph: Dataflow, stream: Stream): ColumnTypes {
  const { to } = stream;
  const reader = graph.components.find(({ name }) => name === to?.component)?.runs;
  const read = reader !== undefined && "sql" in reader ? reader.types?.[to?.interface ?? ""] : undefined;
  return { ...read, ...stream.types };
}

/** One, or now and then many. */
export function timesFor(sizes: readonly number[], chance: Chance): number {
  return sizes.length > 0 && chance.fraction() < MANY ? chance.pick(sizes) : 1;
}

export function makeInputs(sources: ReadonlyMap<string, RecordSource>, chance: Chance): RunInputs {
  const values = valuesFor(chance);
  return new Map(
    [...sources].map(([stream, { make, sizes }]) => {
      const bulk = () => ({ record: make(chance, values), times: timesFor(sizes, chance) });
      return [stream, Array.from({ length: 1 + chance.int(BULKS_PER_STREAM_MAX) }, bulk)];
    }),
  );
}

export function valuesFor(chance: Chance): number {
  return chance.pick(VALUES);
}

/** The functions that the file promises hold for what is made here too. */
function kept(values: Record<string, number>, dependencies: readonly Dependency[]): Record<string, number> {
  for (const { from, to, injective, orderPreserving } of dependencies) {
    if (![...from, ...to].every((attribute) => attribute in values)) continue;
    const parts = from.map((attribute) => values[attribute] ?? 0);
    const distinct = parts.reduce((sum, part) => sum * VALUES_MAX + part, 0);
    for (const attribute of to) {
      if (orderPreserving) values[attribute] = Math.floor(distinct / (injective ? 1 : 2));
      else values[attribute] = injective ? distinct : distinct % 2;
    }
  }
  return values;
}

/** The values of a key in a record, as one word; `null` if it has not all of them. */
export function keyOf(record: DataRecord, key: readonly string[]): string | null {
  return key.every((attribute) => attribute in record)
    ? canonical(key.map((attribute) => record[attribute]))
    : null;
}
