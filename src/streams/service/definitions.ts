import { HeadwaterError } from "../../errors.js";
import { intervalMs } from "../../sql/index.js";
import { column, type Schema } from "../columns/index.js";
import {
  DEFAULT_RETENTION,
  type QueryDefinition,
  type Retention,
  type StreamDefinition,
} from "../graph/index.js";
import { OPEN_SCALE, planDefinition } from "../sql/index.js";
import { columnsOf, type StreamColumns } from "../typed/index.js";
import type { Described } from "./describe.js";
import type { Quotas } from "./quotas.js";
import { type QueryOptions, queryDefinition } from "./registration.js";
import { tablesOf, versionsOf } from "./tables.js";

/** A producer that has pushed nothing for so long does not hold the watermark back. */
const IDLE_MS = 30_000;
const KEEP_IDS_MS = 24 * 3600 * 1000;
const KEEP_SEALS_MS = 24 * 3600 * 1000;
const HOLD_BYTES = 64 * 1024 * 1024;

export interface StreamSettings {
  /** The columns of the primary key. With one, it is a table: a row replaces the one before it with the same key. */
  readonly key?: readonly string[];
  /** The column with the event time, and how much later than the latest row of its producer a row can come. */
  readonly time?: { readonly column: string; readonly latenessMs?: number; readonly idleMs?: number };
  /** The column with the event id: a row whose id was seen within `keepMs` (a day) is dropped. */
  readonly eventId?: { readonly column: string; readonly keepMs?: number };
  readonly retention?: Partial<Retention>;
  /**
   * The columns by which producers seal partitions, and who the producers are. A sealed partition is remembered for `keepMs` (a day),
   * and no partition begins while more than `holdBytes` (64 MiB) are held for partitions that are not sealed.
   */
  readonly seals?: {
    readonly columns: readonly string[];
    readonly producers: readonly string[];
    readonly keepMs?: number;
    readonly holdBytes?: number;
  };
}

/** A stream or a table from its columns. */
export function streamDefinition(name: string, columns: unknown, options: StreamSettings): StreamDefinition {
  const schema = columnsOf(columns).map((each) =>
    column(each.name, each.type, each.nullable, each.type === "numeric" ? OPEN_SCALE : 0),
  );
  return sourceOf(name, schema, options);
}

function sourceOf(name: string, columns: Schema, options: StreamSettings): StreamDefinition {
  const { key = [], time, eventId, retention, seals } = options;
  const timeAt = time === undefined ? -1 : placeOf(columns, time.column);
  const idAt = eventId === undefined ? -1 : placeOf(columns, eventId.column);
  return {
    ...{ kind: key.length > 0 ? "table" : "stream", name, columns },
    key: key.map((each) => placeOf(columns, each)),
    time:
      timeAt < 0
        ? null
        : { column: timeAt, latenessMs: time?.latenessMs ?? 0, idleMs: time?.idleMs ?? IDLE_MS },
    eventId: idAt < 0 ? null : { column: idAt, keepMs: eventId?.keepMs ?? KEEP_IDS_MS },
    retention: { ...DEFAULT_RETENTION, ...retention },
    ...(seals === undefined
      ? {}
      : {
          seals: {
            columns: seals.columns.map((each) => placeOf(columns, each)),
            producers: [...new Set(seals.producers)],
            keepMs: seals.keepMs ?? KEEP_SEALS_MS,
            holdBytes: seals.holdBytes ?? HOLD_BYTES,
          },
        }),
  };
}

function placeOf(schema: Schema, name: string): number {
  const place = schema.findIndex((spec) => spec.name === name);
  if (place >= 0) return place;
  throw new HeadwaterError("HW-5403", `there is no column ${JSON.stringify(name.slice(0, 80))}.`);
}

/** A stream, a table, a query or a view from its SQL, over the streams and queries that are there. */
export async function sqlDefinition(
  sql: string,
  name: string | null,
  catalog: ReadonlyMap<string, Described>,
  options: QueryOptions,
): Promise<StreamDefinition | QueryDefinition> {
  const defined = await planDefinition(sql, tablesOf(catalog), versionsOf(catalog));
  if (!("plan" in defined)) {
    const { key, watermark, columns } = defined;
    const { idleMs, ...words } = wordsOf(defined.options);
    const time = watermark === null ? {} : { time: { ...watermark, ...(idleMs === null ? {} : { idleMs }) } };
    const source = sourceOf(defined.name, columns, { ...words, ...time, key });
    return { ...source, kind: defined.kind === "create table" ? "table" : "stream" };
  }
  const given = name ?? defined.name;
  if (given === null)
    throw new HeadwaterError("HW-5403", "a query needs a name, under which its results can be read.");
  return await queryDefinition(catalog, sql, given, defined, options);
}

const WORDS = [
  ...["event_id", "event_id_keep", "idle", "retention", "retention_bytes"],
  ...["seal", "producers", "seal_keep", "hold_bytes"],
];

/** What `WITH (…)` says. */
function wordsOf(
  words: Readonly<Record<string, string>>,
): StreamSettings & { readonly idleMs: number | null } {
  const unknown = Object.keys(words).find((word) => !WORDS.includes(word));
  if (unknown !== undefined)
    throw new HeadwaterError(
      "HW-5403",
      `WITH knows no ${JSON.stringify(unknown.slice(0, 80))}; it knows ${WORDS.join(", ")}.`,
    );
  const { event_id: id } = words;
  const bytes = bytesOf(words, "retention_bytes");
  const [ms, keepMs] = [lengthOf(words, "retention"), lengthOf(words, "event_id_keep")];
  return {
    idleMs: lengthOf(words, "idle"),
    ...sealsOf(words),
    retention: { ...(bytes === null ? {} : { bytes }), ...(ms === null ? {} : { ms }) },
    ...(id === undefined ? {} : { eventId: { column: id, ...(keepMs === null ? {} : { keepMs }) } }),
  };
}

function sealsOf(words: Readonly<Record<string, string>>): Pick<StreamSettings, "seals"> {
  const { seal, producers } = words;
  const [keepMs, holdBytes] = [lengthOf(words, "seal_keep"), bytesOf(words, "hold_bytes")];
  if (seal === undefined && producers === undefined && keepMs === null && holdBytes === null) return {};
  if (seal === undefined || producers === undefined)
    throw new HeadwaterError(
      "HW-5403",
      "a stream whose partitions are sealed says by which columns and by whom: WITH (seal = 'campaign', producers = 'ads-1, ads-2').",
    );
  const names = (text: string) => text.split(",").map((name) => name.trim());
  return {
    seals: {
      ...{ columns: names(seal), producers: names(producers) },
      ...(keepMs === null ? {} : { keepMs }),
      ...(holdBytes === null ? {} : { holdBytes }),
    },
  };
}

function bytesOf(words: Readonly<Record<string, string>>, word: string): number | null {
  const text = words[word];
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HeadwaterError("HW-5403", `"${word}" is a number of bytes.`);
}

function lengthOf(words: Readonly<Record<string, string>>, word: string): number | null {
  const text = words[word];
  const ms = text === undefined ? null : intervalMs(text);
  if (text === undefined || ms !== null) return ms;
  throw new HeadwaterError("HW-5403", `"${word}" is a length of time such as '10 minutes'.`);
}

/** Refuses what would retain more than the tenant may. */
export function checkRetention(
  { name, retention }: StreamDefinition | QueryDefinition,
  quotas: Quotas,
): void {
  if (retention.bytes <= quotas.retentionBytes) return;
  throw new HeadwaterError(
    "HW-5408",
    `"${name}" would retain ${retention.bytes} bytes, and the tenant may have ${quotas.retentionBytes} retained per stream. Nothing was registered.`,
  );
}

/** Whether a query has the columns that its caller says it has. */
export function checkColumns(name: string, found: Schema, wanted: StreamColumns | undefined): void {
  if (wanted === undefined) return;
  const shown = (columns: readonly { name: string; type: string; nullable: boolean }[]) =>
    columns.map((each) => `${each.name} ${each.type}${each.nullable ? "?" : ""}`).join(", ");
  const [has, wants] = [shown(found), shown(columnsOf(wanted))];
  if (has === wants) return;
  throw new HeadwaterError(
    "HW-5403",
    `the query "${name}" has the columns (${has}), and its caller expects (${wants}). Nothing was registered.`,
  );
}
