import type { HeadwaterError } from "../errors.js";
import type { Method } from "../model/shape.js";
import { Watched } from "../model/watched.js";
import type { Slot } from "./slot.js";

/** What a call below returns. */
export class Call extends Watched {
  doom: HeadwaterError | null = null;

  constructor(
    readonly slot: Slot,
    readonly method: Method,
    /** Where it stands among all that the method asks for. */
    readonly position: number,
  ) {
    super();
  }
}

// A class has a constructor of its own, which would hide the one by which a promise sees that it is awaited.
Reflect.deleteProperty(Call.prototype, "constructor");
