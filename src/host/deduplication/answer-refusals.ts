import { HeadwaterError } from "../../errors.js";

/** Requests that are not carried out, or not again. */

export function noRoom(bytesMax: number, answersMs: number): HeadwaterError {
  return HeadwaterError.withoutStack(
    "HW-4030",
    `the request was not carried out: the answers that are kept for this caller have used up its share of ${bytesMax} ` +
      `bytes, and no answer is forgotten within ${answersMs} ms. Ask again later, under the same id.`,
  );
}

/** Stands for an answer that is not kept: its request is not carried out a second time. */
export function tooLarge(): HeadwaterError {
  return new HeadwaterError(
    "HW-4031",
    "the request was carried out when it came first, but its answer was larger than what was left of the caller's share, " +
      "and was not kept. The request was not carried out again.",
  );
}

export function gone(number: number, answersMs: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4031",
    `request ${number} came again when its answer was not kept any more: the client had said that it has it, or more than ` +
      `${answersMs} ms had passed. The request was not carried out again.`,
  );
}
