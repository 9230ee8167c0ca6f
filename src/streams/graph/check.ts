import type { Schema } from "../columns/index.js";
import type { Refused } from "./answers.js";
import type { QueryDefinition, StreamDefinition } from "./definition.js";

/** Names as SQL has them without quotes: what a query says is what is meant. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
/** A stream of another tenant: the tenant, then the name. */
const IMPORTED = /^[a-z][a-z0-9-]{0,39}\.[a-z_][a-z0-9_]{0,62}$/;
const COLUMNS_MAX = 1000;
const PRODUCERS_MAX = 1000;
const PRODUCER_LENGTH_MAX = 200;

/** What is wrong with a definition by itself, whatever else is in the graph. */
export function misdefined(definition: StreamDefinition | QueryDefinition): Refused | null {
  const why =
    nameless(definition.name, "origin" in definition && definition.origin !== undefined) ??
    ("columns" in definition ? misfit(definition) : null) ??
    retained(definition);
  return why === null ? null : { code: "HW-5403", message: why };
}

function nameless(name: string, isImported: boolean): string | null {
  if ((isImported ? IMPORTED : NAME).test(name)) return null;
  return `${JSON.stringify(name.slice(0, 80))} cannot be a name: lower-case letters, digits and "_", not a digit first, at most 63.`;
}

function retained({ retention: { bytes, ms } }: StreamDefinition | QueryDefinition): string | null {
  if (!(Number.isFinite(bytes) && bytes >= 0))
    return "the retention in bytes must be a number of at least 0.";
  return ms === null || ms > 0 ? null : "the retention in time must be longer than nothing.";
}

/** What is wrong with the declared producers of a stream. */
export function misproduced(producers: readonly string[]): Refused | null {
  const why =
    producers.length === 0 || producers.length > PRODUCERS_MAX
      ? `1 to ${PRODUCERS_MAX} producers are declared, not ${producers.length}.`
      : producers.some((name) => name === "" || name.length > PRODUCER_LENGTH_MAX)
        ? `the name of a producer has 1 to ${PRODUCER_LENGTH_MAX} characters.`
        : null;
  return why === null ? null : { code: "HW-5403", message: why };
}

function missealed({ kind, columns, seals }: StreamDefinition): string | null {
  if (seals === undefined) return null;
  if (kind === "table") return "the rows of a table replace each other, so its partitions cannot be sealed.";
  if (seals.columns.length === 0) return "partitions are sealed by one column or more.";
  const odd = seals.columns.find((index) => ["float", "json"].includes(columns[index]?.type ?? "json"));
  if (odd !== undefined)
    return `"${columns[odd]?.name ?? odd}" cannot name a partition: floats and JSON have no one form of equal values.`;
  if (!(seals.keepMs > 0 && seals.holdBytes > 0))
    return "sealed partitions are remembered for a time above 0, and rows are held within a number of bytes above 0.";
  return misproduced(seals.producers)?.message ?? null;
}

function misfit(definition: StreamDefinition): string | null {
  const { kind, columns, key, time, eventId, origin } = definition;
  if (columns.length === 0 || columns.length > COLUMNS_MAX)
    return `a stream has 1 to ${COLUMNS_MAX} columns, not ${columns.length}.`;
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return `there are two columns named ${JSON.stringify(twice)}.`;
  const unnamed = names.find((name) => name === "" || name.length > 63 || /\p{Cc}/u.test(name));
  if (unnamed !== undefined)
    return `${JSON.stringify(unnamed.slice(0, 80))} cannot be the name of a column: 1 to 63 characters, none of them a control character.`;
  if (kind === "table" && key.length === 0 && origin === undefined) return "a table needs a primary key.";
  if (!key.every((index) => index in columns)) return "the key names a column that is not there.";
  if (kind === "stream" && key.length > 0)
    return "a stream has no primary key: its rows never replace each other. Define a table.";
  return mistimed(columns, time) ?? misidentified(columns, eventId) ?? missealed(definition);
}

function mistimed(columns: Schema, time: StreamDefinition["time"]): string | null {
  if (time === null) return null;
  if (columns[time.column]?.type !== "timestamp") return "the event time must be a column of type timestamp.";
  if (!(time.latenessMs >= 0 && time.idleMs > 0))
    return "the allowed lateness is a length of time from 0 on, and the idle limit one above 0.";
  return null;
}

function misidentified(columns: Schema, eventId: StreamDefinition["eventId"]): string | null {
  if (eventId === null) return null;
  if (columns[eventId.column] === undefined) return "the event id must be a column.";
  return eventId.keepMs > 0 ? null : "event ids are kept for a length of time above 0.";
}
