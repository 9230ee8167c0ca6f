import type { RuptureKind } from "../pipeline.js";

/** One fluxion of a program in the fluxional language (figure 1). */
export interface Fluxion {
  readonly name: string;
  readonly groups: readonly string[];
  readonly context: readonly string[];
  readonly streams: readonly FluxionStream[];
  /** Source text, with streams where the program had callbacks: `app.get("/", >> handler)`. */
  readonly code: string;
}

export interface FluxionStream {
  readonly kind: RuptureKind;
  readonly to: readonly string[];
  readonly message: readonly string[];
}
