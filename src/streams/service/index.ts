/**
 * The streaming service in one process: tenants with quotas and tokens as contexts, the graph of each as the owned state of one
 * of them, batches gathered on their way in, and subscribers that read the logs. `README.md` says why it is built so.
 */
export type { QueryAnswer } from "./ad-hoc.js";
export { type Granted, openStreams, StreamService, type StreamsOptions } from "./open.js";
export type { Quotas } from "./quotas.js";
export type { NumberedRow, PushOptions, TenantStreams, ViewRange } from "./tenant-streams.js";
export type { TokenScope } from "./tokens.js";
