import assert from "node:assert/strict";
import { type Code, HeadwaterError } from "headwater";

function check(error: unknown, code: Code, names: readonly string[]): true {
  assert.ok(error instanceof HeadwaterError, `a coded error was expected, not ${String(error)}`);
  assert.equal(error.code, code, error.message);
  for (const name of names)
    assert.ok(error.message.includes(name), `"${name}" is missing in: ${error.message}`);
  return true;
}

/** The promise must be refused with this code, by a message that contains these names. */
export function refused(promise: Promise<unknown>, code: Code, ...names: string[]): Promise<void> {
  return assert.rejects(promise, (error) => check(error, code, names));
}

/** The same for something that is refused on the spot. */
export function refusedAtOnce(act: () => unknown, code: Code, ...names: string[]): void {
  assert.throws(act, (error) => check(error, code, names));
}
