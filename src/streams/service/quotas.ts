import { HeadwaterError } from "../../errors.js";

/** What a tenant may take. */
export interface Quotas {
  readonly streams: number;
  readonly queries: number;
  readonly eventsPerSecond: number;
  /** Of all that its graph holds in memory: logs, tables, the state of queries. */
  readonly stateBytes: number;
  /** What one stream or query may retain of its rows, for readers that come later. */
  readonly retentionBytes: number;
  /** What its streams may hold for partitions that are not sealed: the sum of their `holdBytes`. */
  readonly heldBytes: number;
  /** Of one core, for carrying out what is pushed: 0.1 is a tenth. A tenant above it waits between its rounds. */
  readonly cpuShare: number;
}

export const DEFAULT_QUOTAS: Quotas = {
  streams: 1000,
  queries: 1000,
  eventsPerSecond: 10_000_000,
  stateBytes: 1024 * 1024 * 1024,
  retentionBytes: 256 * 1024 * 1024,
  heldBytes: 256 * 1024 * 1024,
  cpuShare: 1,
};

export function tooFast({ eventsPerSecond }: Quotas): HeadwaterError {
  return new HeadwaterError(
    "HW-5408",
    `the tenant may push ${eventsPerSecond} events per second. Nothing was pushed.`,
  );
}

export function tooLarge(bytes: number, { stateBytes }: Quotas): HeadwaterError {
  return new HeadwaterError(
    "HW-5408",
    `the streams and queries of the tenant hold ${bytes} bytes, and may hold ${stateBytes}. Nothing was pushed.`,
  );
}

/** The tenants of the service hold all that they may together, and this one more than its share. */
export function noMemoryLeft(bytes: number, shareBytes: number, bytesMax: number): HeadwaterError {
  return new HeadwaterError(
    "HW-5540",
    `the streams and queries of all tenants hold the ${bytesMax} bytes that the service may hold; those of this tenant hold ${bytes}, and its share is ${Math.floor(shareBytes)}. Nothing was pushed.`,
  );
}
