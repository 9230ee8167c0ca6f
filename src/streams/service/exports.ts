import { HeadwaterError } from "../../errors.js";
import { encodeBatch } from "../columns/index.js";
import {
  type Applied,
  type CommandOutcome,
  DEFAULT_RETENTION,
  type GraphEngine,
  type ImportOrigin,
  type StreamDefinition,
} from "../graph/index.js";

/** A stream that other tenants read: under which name, which tenants, and the watermark that they were last told. */
export interface Exported {
  readonly as: string;
  readonly tenants: readonly string[];
  readonly watermark: number | null;
}

/** What came of a command, and the tenants that were sent rows because of it. */
export interface CarriedOut extends CommandOutcome {
  readonly sentTo?: readonly string[];
  /** How long the graph took for it, for fair turns; no state depends on it. */
  readonly tookMs: number;
}

/** The tenants that were sent rows. */
export function sentBy(outcome: CommandOutcome | CarriedOut): readonly string[] {
  return "sentTo" in outcome ? (outcome.sentTo ?? []) : [];
}

/** What a tenant begins with that reads a stream of another. */
export interface Shipment {
  readonly definition: StreamDefinition;
  readonly batches: readonly Uint8Array[];
  readonly watermark: number | null;
}

/** The watermark of a stream of another tenant follows its owner's, however long that says nothing. */
const NEVER_IDLE_MS = 8.64e15;

/** What a command has brought, for the tenants that read a stream. */
export function newsOf(
  { nodes }: GraphEngine,
  name: string,
  brought: Applied["brought"],
): Pick<Shipment, "batches" | "watermark"> {
  const channel = nodes.channel(name);
  if (channel === null) return { batches: [], watermark: null };
  return { batches: (brought.get(channel) ?? []).map(encodeBatch), watermark: channel.watermark };
}

/** A table or a view begins with the rows that it holds, a stream with what comes from now on. */
export function shipmentOf({ nodes }: GraphEngine, name: string, as: string): Shipment {
  const channel = nodes.channel(name);
  const spec = nodes.specs([name])[name];
  if (channel === null || spec === undefined)
    throw new HeadwaterError("HW-5401", nodes.missing(name).message);
  if (!nodes.isAppendOnly(name) && channel.rows === null)
    throw new HeadwaterError(
      "HW-5403",
      `"${name}" takes rows back that it gave before. Define it as a materialized view to share it.`,
    );
  const { rows, schema, watermark } = channel;
  const { kind, key, timeColumn } = spec;
  const origin: ImportOrigin = { kind, key: rows === null ? [] : rows.key };
  const definition: StreamDefinition = {
    ...{ kind: rows === null ? "stream" : "table", name: as, columns: schema, eventId: null, origin },
    key: rows === null ? [] : key,
    time: timeColumn === null ? null : { column: timeColumn, latenessMs: 0, idleMs: NEVER_IDLE_MS },
    retention: DEFAULT_RETENTION,
  };
  const held = rows === null || rows.size === 0 ? [] : [encodeBatch(rows.batch())];
  return { definition, batches: held, watermark };
}
