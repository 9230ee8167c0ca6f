/** What a tenant may take. */
export interface Quotas {
  readonly streams: number;
  readonly queries: number;
  readonly eventsPerSecond: number;
  /** Of all that its graph holds in memory: logs, tables, the state of queries. */
  readonly stateBytes: number;
}

export const DEFAULT_QUOTAS: Quotas = {
  streams: 1000,
  queries: 1000,
  eventsPerSecond: 10_000_000,
  stateBytes: 1024 * 1024 * 1024,
};
