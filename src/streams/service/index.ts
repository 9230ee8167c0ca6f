/**
 * The streaming service in one process: tenants with quotas and tokens as contexts, the graph of each as the owned state of one
 * of them, batches gathered on their way in, and subscribers that read the logs. `README.md` says why it is built so.
 */
export type { QueryAnswer } from "./ad-hoc.js";
export type { StreamSettings } from "./definitions.js";
export type { Granted } from "./granted-tokens.js";
export type { GraphStream } from "./labelled.js";
export { openStreams, StreamService, type StreamsOptions } from "./open.js";
export type { PushOptions, ViewRange } from "./options.js";
export type { OutputStatus } from "./outputs.js";
export { DEFAULT_QUOTAS, type Quotas } from "./quotas.js";
export type { QueryOptions } from "./registration.js";
export type { Decimals, FollowOptions } from "./result-reader.js";
export type { TenantStreams } from "./tenant-streams.js";
export { SCOPES, type TokenScope } from "./tokens.js";
