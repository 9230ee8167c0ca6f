import { HeadwaterError } from "../../errors.js";
import { pointAt, type ResolvedQuery, userAggregate } from "../../sql/index.js";
import { type Inputs, type Plan, traitsOf } from "../plan/index.js";

/** An aggregate of a program that cannot take rows back, over rows that may be: refused, with its place. */
export function irretractable(
  plan: Plan,
  inputs: Inputs,
  { text, emit }: Pick<ResolvedQuery, "text" | "emit">,
): HeadwaterError | null {
  const mode = emit ?? "changes";
  const look = (part: Plan): HeadwaterError | null => {
    if (part.kind === "aggregate" && !traitsOf(part.input, inputs, mode).isAppendOnly) {
      const name = part.aggregates
        .flatMap(({ user }) => user?.name ?? [])
        .find((each) => userAggregate(each)?.retract === null);
      if (name !== undefined) {
        const what = `${name}() has no retract, and rows below it are taken back. Declare a retract for it, or aggregate rows of a stream, or windows with EMIT ON WINDOW CLOSE.`;
        return new HeadwaterError("HW-5102", part.span === undefined ? what : pointAt(text, part.span, what));
      }
    }
    const below =
      part.kind === "join"
        ? [part.left, part.right]
        : part.kind === "union"
          ? part.inputs
          : "input" in part
            ? [part.input]
            : [];
    for (const input of below) {
      const found = look(input);
      if (found !== null) return found;
    }
    return null;
  };
  return look(plan);
}
