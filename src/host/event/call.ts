import type { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import { Watched } from "../../model/watched.js";
import type { State } from "../../state/fields.js";
import type { Slot } from "../context/index.js";

/** A call below. */
export class Call {
  /** What its caller has of it. */
  readonly promise = new Watched();
  /** The next of the calls that the same method has made. */
  next: Call | OwnCall | null = null;
  doom: HeadwaterError | null = null;
  /** What came of it, until its caller gets to know. */
  result: "returned" | "threw" | null = null;
  value: unknown = undefined;
  /** Was it made after the method had returned or thrown? */
  isLate = false;
  /** Did the event hold the caller's context when the call was made? */
  callerHeld = false;
  /** The state of the caller's context at that moment, or why it has none; null if no method is known to read it. */
  callerState: State | HeadwaterError | null = null;

  constructor(
    readonly slot: Slot,
    readonly method: Method,
    /** Where it stands among all that the method asks for. */
    readonly position: number,
  ) {}
}

/** A call of an async method of the context itself. */
export class OwnCall {
  readonly promise = new Watched();
  next: Call | OwnCall | null = null;

  constructor(readonly method: { readonly name: string }) {}
}
