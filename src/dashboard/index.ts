/**
 * The dashboard's server side: an admin API over HTTP (`dashboard.ts`, `routes.ts`), the built page (`assets.ts`, sources in
 * `/dashboard`), who may use it (`access.ts`), and what it adds up of the facts that the program's feed tells (`monitor.ts` and what it
 * keeps: `seconds.ts`, `busy.ts`, `recent.ts`), and streams with their queries (`streams.ts`): those of a streaming service, or the events of
 * the program as a stream (`event-stream.ts`), and the cluster that the process belongs to (`cluster.ts`). It reads `observe` and the service's own doors, and nothing else of the runtime.
 */

export { clusterAt } from "./cluster.js";
export { Dashboard } from "./dashboard.js";
export { EventStream } from "./event-stream.js";
