import type { Feed } from "../observe/index.js";

/** A running program, as far as its observers need it: what `run` returns. */
export interface Observed {
  readonly observe: Feed["observe"];
}
