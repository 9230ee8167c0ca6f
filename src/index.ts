/// <reference types="node" preserve="true" />
import "./state/tracked-fields.js"; // makes what `tracked` declares

export type { ProgramIo } from "./cli/program.js";
export { run, serve } from "./doors.js";
export type { ElasticHosts } from "./elastic/elastic-hosts.js";
export { type Bounds, type KeepOptions, keep } from "./elastic/keep.js";
export type { LoadEvent } from "./elastic/load.js";
export type { Colocate, PlacedContext } from "./elastic/placement.js";
export type {
  Action,
  ContextLoad,
  Decision,
  HostMeasurements,
  Measurements,
  Policy,
} from "./elastic/policy.js";
export { type Code, HeadwaterError, mayRetry } from "./errors.js";
export type {
  ContextInfo,
  HostInfo,
  HostLoad,
  HostState,
  NamedContext,
  PlacementRules,
  ProgramHosts,
} from "./host/fleet/index.js";
export { isHost } from "./host/is-host.js";
export type { ParkedEvents } from "./host/node/index.js";
export type { Past } from "./host/past.js";
export type { Limits } from "./host/ports/index.js";
export {
  hostsOf,
  type NodeService,
  type Nodes,
  parkedOf,
  type RunOptions,
  type Service,
} from "./host/service.js";
export type { HistorySpan, ParkedEvent } from "./host/store/index.js";
export type { Durability, Journal } from "./journal/journal.js";
export { MemoryJournal } from "./journal/memory.js";
export { type Api, type Client, expose, type SessionEvents } from "./model/api.js";
export type { Page, PageOptions } from "./model/below.js";
export { checkedBy, type SchemaOutputs, type StandardSchema } from "./model/checked-by.js";
export type {
  Kept,
  ReadonlyTrackedList,
  ReadonlyTrackedMap,
  ReadonlyTrackedSet,
  TrackedKey,
  TrackedList,
  TrackedMap,
  TrackedSet,
} from "./model/collections.js";
export { AnonymousContext, Context, type ContextClass } from "./model/context.js";
export type { CurrentEvent, Sender, TimerId } from "./model/event.js";
export type { Key } from "./model/key.js";
export { readonly, reads } from "./model/marks.js";
export {
  GiveUp,
  type Outside,
  type OutsideCall,
  type OutsideOptions,
  type OutsideResult,
  outside,
} from "./model/outside.js";
export { type Owned, type OwnedEngine, type OwnedOptions, owned } from "./model/owned.js";
export type { Answered, Children, Elsewhere, Later, Ref, Target, Timed, View } from "./model/refs.js";
export { tracked } from "./model/tracked.js";
export { userOf } from "./model/user.js";
export {
  type DroppedFact,
  type Fact,
  type FailedEvent,
  KINDS,
  type Kind,
  type Observation,
  type ObserveOptions,
} from "./observe/index.js";
export type { ProvisionOptions } from "./provision/options.js";
export type { ServerLimits } from "./server/limits.js";
export type { ServeOptions, Server } from "./server/serve.js";
export type { Tokens } from "./server/tokens.js";
export { register } from "./state/values.js";
export { Topic, type TopicPage } from "./topics/index.js";
