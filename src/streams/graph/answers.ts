import type { Code, HeadwaterError } from "../../errors.js";

/** What a producer hears of a batch: the number of its first row in the stream's log, and how many rows were new. */
export interface Accepted {
  readonly first: number;
  readonly rows: number;
  /** Rows that were dropped because their event ids had been seen. */
  readonly duplicates: number;
}

/** A refused command changes nothing. */
export interface Refused {
  readonly code: Code;
  readonly message: string;
}

/** `isRepeated`: the batch had been taken before, and this is the answer that it got then. */
export type PushAnswer = (Accepted & { readonly isRepeated: boolean }) | Refused;

export function isRefused<T extends object>(answer: T | Refused): answer is Refused {
  return "code" in answer;
}

/** The same as a value: the message of an error begins with its code. */
export function refusedBy({ code, message }: HeadwaterError): Refused {
  return { code, message: message.slice(code.length + 2) };
}
