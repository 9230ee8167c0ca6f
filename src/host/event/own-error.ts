import { HeadwaterError } from "../../errors.js";

/** JavaScript's own. An error with another name was made for the caller. */
const NATIVE = new Set([
  "Error",
  "AggregateError",
  "AssertionError",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
]);

/** Is it what the program wants to tell its caller, and no failure? Then its name is one of the program's own. */
export function isAnswer(error: unknown): boolean {
  try {
    return error instanceof Error && !(error instanceof HeadwaterError) && !NATIVE.has(error.name);
  } catch {
    return false; // its name is code of the application, which has failed itself
  }
}
