const MARK = Symbol.for("headwater.host");

/** Is this code being run by a host, which loads the program, and not by its owner? */
export function isHost(): boolean {
  return MARK in globalThis;
}

export function becomeHost(): void {
  Object.defineProperty(globalThis, MARK, { value: true });
}
