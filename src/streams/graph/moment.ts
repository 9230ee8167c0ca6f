import type { Batch } from "../columns/index.js";
import type { Channel } from "./channel.js";

/** The carrying out of one command. */
export interface GraphMoment {
  /** The number of the command, counted from the beginning of the graph. */
  readonly round: number;
  /** The time of its event. */
  readonly timeMs: number;
  /** Are results of queries left out? */
  readonly isQuiet?: boolean;
  /** The channels that have got rows, and these rows. */
  readonly grown: Map<Channel, Batch[]>;
}
