import type { HeadwaterError } from "../../errors.js";
import type { FrameBuffer } from "./frame.js";

/** The ordered log of groups behind a journal, as its writer sees it. */
export interface Log {
  /** The sequence of the last frame that is safe. */
  readonly last: number;
  /** How many frames may be on their way at a time. */
  readonly framesMax: number;
  /** Only the acknowledgement of a frame, be it an empty one, shows that no other opening has taken the log over. */
  readonly hasBarrier: boolean;
  /** There is no room beyond what is reserved: nothing new should be let in. */
  readonly isFull: boolean;
  /** Says that another opening has taken the log over (HW-3005); null if none has. */
  check(): HeadwaterError | null;
  /**
   * Adds a frame at the end. `done` is called once it is safe, or with an error; after an error the log is used no more. In
   * the order of the calls; when there is no room, `done` waits for it.
   */
  append(frame: FrameBuffer, done: (error: HeadwaterError | null) => void): void;
  /** The frames up to this one are no longer needed. */
  cut(sequence: number): void;
  /** `isSound`: everything that was appended is safe, and the log may say so. */
  close(isSound: boolean): Promise<void>;
}
