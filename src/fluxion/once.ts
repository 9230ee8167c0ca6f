import { setFlagsFromString } from "node:v8";

/**
 * For a process that compiles one program and ends: optimising code that runs for some hundred milliseconds takes the engine
 * longer than it saves, so it begins later. It is a fifth faster like that.
 */
export function compilesOnce(): void {
  setFlagsFromString("--interrupt-budget=600000");
}
