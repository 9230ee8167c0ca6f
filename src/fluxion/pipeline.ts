/**
 * A program as a pipeline: the parts that the paper calls fluxions, the streams between them, the groups that must stay
 * together, and the stages that are proved isolated and may run elsewhere. Plain data: the printer, the picture, the
 * linker and the runtime all read it.
 */

import type { ReceiverKind, StageEntry, WatchedPackage } from "./runtime/manifest.js";

export type { ReceiverKind, WatchedPackage } from "./runtime/manifest.js";

/** Where something is written down. Lines and columns are counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

/** The two kinds of rupture points (section 3.1.1): a listener starts a chain, a continuation goes on with one. */
export type RuptureKind = "start" | "post";

export interface PipelineStream {
  readonly kind: RuptureKind;
  readonly from: string;
  readonly to: string;
  /** Closure variables that travel in the message; the arguments of the callback are not listed. */
  readonly message: readonly string[];
  /** The callee that the rupture point is a call of: `app.get`, `fs.readFile`. */
  readonly callee: string;
  readonly place: Place;
}

/** Section 3.2: the three ways to replace a closure. */
export type Handling = "scope" | "stream" | "share";

export interface CrossingVariable {
  readonly name: string;
  readonly handling: Handling;
  readonly why: string;
}

/** An application part between rupture points; `main` is the program itself. */
export interface Part {
  readonly name: string;
  readonly place: Place;
  /** The names of the groups that it belongs to, without `grp_`. */
  readonly groups: readonly string[];
  readonly context: readonly string[];
  readonly variables: readonly CrossingVariable[];
  readonly code: string;
  /** No state of its own that outlives a request. */
  readonly stateless: boolean;
  /** That state otherwise, and whether the part writes it or only looks at it. */
  readonly state: readonly { readonly name: string; readonly written: boolean }[];
}

export interface Group {
  readonly name: string;
  readonly parts: readonly string[];
  readonly variables: readonly string[];
  /** No state across requests: one copy per request would do. */
  readonly replicable: boolean;
}

export interface Receiver {
  readonly kind: ReceiverKind;
  /** How the program calls it: `res`. */
  readonly name: string;
}

/**
 * - `part`: a whole listener or continuation;
 * - `awaited`: a call where an `await` stands already;
 * - `cut`: a call in a synchronous section, where an `await` is put in;
 * - `posted`: a call that is given its continuation.
 */
export type StageKind = "part" | "awaited" | "cut" | "posted";

/** Whether a stage is worth a worker, as far as its text can tell. */
export type StageWeight = "trivial" | "unknown" | "heavy";

export interface Stage {
  readonly id: string;
  readonly kind: StageKind;
  readonly name: string;
  readonly place: Place;
  /** What the inputs are, for people: `req.query.text`, `limit`. */
  readonly inputs: readonly string[];
  readonly receivers: readonly Receiver[];
  readonly weight: StageWeight;
  /** What a profile says that its calls took. Then the weight follows from that. */
  readonly measuredMs?: number;
  /** It calls a package of which nothing is known, and is watched when it runs elsewhere. */
  readonly watched?: WatchedPackage;
  /** The file of the worker module that has it, beside the program's own files. */
  readonly worker: string;
}

/** Why something stays on the main loop, and what would free it. */
export interface Diagnostic {
  readonly code: string;
  readonly place: Place;
  /** The part or call that stays. */
  readonly subject: string;
  readonly subjectPlace: Place;
  readonly reason: string;
  readonly advice: string;
}

/** A handler, and what it answers: `POST /login`. */
export interface HandlerRoute {
  readonly place: Place;
  readonly route: string;
}

export interface Pipeline {
  readonly entry: string;
  readonly files: readonly string[];
  readonly parts: readonly Part[];
  readonly streams: readonly PipelineStream[];
  readonly groups: readonly Group[];
  readonly stages: readonly Stage[];
  readonly routes: readonly HandlerRoute[];
  readonly diagnostics: readonly Diagnostic[];
  /** Awaits of known asynchronous calls that stay in one part with what follows, and why. */
  readonly uncut: readonly Diagnostic[];
}

/** What stands in `manifest.json` beside the generated code; stages are as the runtime wants to know them. */
export interface Manifest {
  readonly version: 1;
  readonly entry: string;
  readonly stages: readonly StageEntry[];
  /** Files whose text was looked at to decide, such as templates: by their paths, what SHA-256 gives for them. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** Generated code; `map` is a source map in JSON. */
export interface Generated {
  readonly code: string;
  readonly map: string;
}

/** What the linker makes: changed files by their absolute path, and worker modules, which lie together in one folder. */
export interface Linked {
  readonly files: ReadonlyMap<string, Generated>;
  readonly workers: ReadonlyMap<string, Generated>;
  readonly manifest: Manifest;
}
