import type { Channel } from "./channel.js";

/** The carrying out of one command. */
export interface GraphMoment {
  /** The number of the command, counted from the beginning of the graph. */
  readonly round: number;
  /** The time of its event. */
  readonly timeMs: number;
  /** The channels that have got rows. */
  readonly grown: Set<Channel>;
}
