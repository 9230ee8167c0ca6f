/** What a stage may have an effect on. Effects are recorded in the worker and carried out by the main loop. */
export type ReceiverKind = "response" | "request" | "next" | "console";

/** A package of which nothing is known, whose calls are watched in workers. */
export interface WatchedPackage {
  readonly package: string;
  /** The inputs that no other code holds, counted from 0. */
  readonly own: readonly number[];
}

/** One stage of a compiled program, as the runtime needs to know it. */
export interface StageEntry {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly name: string;
  /** The module that has it for workers, relative to the manifest. */
  readonly worker: string;
  readonly receivers: readonly ReceiverKind[];
  readonly inputs: readonly string[];
  /** The program says that it is: it moves without having been measured. */
  readonly heavy?: boolean;
  /** It may run elsewhere as long as nothing that it calls does what lasts. */
  readonly watched?: WatchedPackage;
}
