import { HeadwaterError } from "../../errors.js";
import { didYouMean } from "../../suggest.js";
import { pointAt, type Span } from "../source.js";

/** Unsupported SQL, and what to write instead. */
export function refusal(text: string, span: Span, what: string): HeadwaterError {
  return new HeadwaterError("HW-5102", pointAt(text, span, what));
}

/** A name that leads nowhere. */
export function unknown(text: string, span: Span, what: string): HeadwaterError {
  return new HeadwaterError("HW-5103", pointAt(text, span, what));
}

/** What PostgreSQL would refuse, too. */
export function senseless(text: string, span: Span, what: string): HeadwaterError {
  return new HeadwaterError("HW-5104", pointAt(text, span, what));
}

/** The nearest name there is, if one is near, and otherwise all of them. */
export function suggestion(name: string, names: readonly string[]): string {
  const known = [...new Set(names)];
  const sameLetters = known.find((each) => each !== name && each.toLowerCase() === name);
  if (sameLetters !== undefined)
    return ` There is "${sameLetters}": names with capital letters are written in double quotes.`;
  const meant = didYouMean(name, known);
  if (meant !== "") return meant;
  return known.length === 0 ? "" : ` There is ${list(known)}.`;
}

export function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
