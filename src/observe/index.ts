/**
 * What can be observed of a running program: typed facts (`facts.ts`), the one feed to which parts of the runtime note them
 * (`feed.ts`), links to traces (`trace-link.ts`), and observers with a bounded buffer each (`observation.ts`). The runtime notes facts and knows no observers;
 * dashboards, metrics and traces read this feed and nothing else.
 */

export {
  type DroppedFact,
  type EventFact,
  type Fact,
  type FailedEvent,
  type HostFact,
  KINDS,
  type Kind,
  type MigrationFact,
  TRAIL_MAX,
  type TrailEffect,
  type TrailFact,
} from "./facts.js";
export { type FactOf, Feed } from "./feed.js";
export { lineOf } from "./line.js";
export { Observation, type ObserveOptions, type Observer } from "./observation.js";
export { placeIn } from "./place.js";
export { bytesOf } from "./size.js";
export type { TraceLink } from "./trace-link.js";
