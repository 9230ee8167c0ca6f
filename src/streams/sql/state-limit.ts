import { HeadwaterError } from "../../errors.js";
import { intervalMs, pointAt, type ResolvedQuery } from "../../sql/index.js";
import {
  type EmitMode,
  type Inputs,
  type KeptState,
  keptBy,
  type Plan,
  withConstantSides,
  withCuts,
  withRetention,
} from "../plan/index.js";
import { irretractable } from "./irretractable.js";

/** What the registrant of a query says of its state, in `WITH (state_retention = …)`: how old it gets, or that it grows. */
export type StateLimit = number | "forever" | null;

export function stateLimitOf(written: string | undefined): StateLimit {
  if (written === undefined) return null;
  if (written.toLowerCase() === "forever") return "forever";
  const ms = intervalMs(written);
  if (ms !== null && ms > 0) return ms;
  throw new HeadwaterError(
    "HW-5403",
    `"state_retention" is a length of time such as '7 days', or 'forever', not ${JSON.stringify(written.slice(0, 40))}.`,
  );
}

/** A query whose state is limited as its registrant has said. */
export interface LimitedQuery {
  readonly plan: Plan;
  readonly inputs: Inputs;
  /** Why it is refused: state that nothing bounds. */
  readonly refusal: HeadwaterError | null;
}

/**
 * Finds operators that would keep every row of a stream for ever. Such a query is refused until it says how long rows count. A
 * row for each key of a stream is no reason to refuse it: the state bytes of its tenant bound the keys.
 */
export function withLimitedState(
  given: Plan,
  inputs: Inputs,
  { text, emit }: Pick<ResolvedQuery, "text" | "emit">,
  limit: StateLimit,
): LimitedQuery {
  const mode = emit ?? "changes";
  const isWrong = irretractable(given, inputs, { text, emit });
  if (isWrong !== null) throw isWrong;
  const plan = withConstantSides(withCuts(given), inputs, mode);
  const made = typeof limit === "number" ? withRetention(plan, inputs, mode, limit) : { plan, inputs };
  const found = limit === "forever" ? null : firstEndless(made.plan, made.inputs, mode);
  return { ...made, refusal: found === null ? null : refusalOf(found, text, limit) };
}

interface Endless {
  readonly plan: Plan;
  readonly kept: KeptState;
}

function firstEndless(plan: Plan, inputs: Inputs, mode: EmitMode): Endless | null {
  const kept = keptBy(plan, inputs, mode).find(({ bound }) => bound === "nothing");
  if (kept !== undefined) return { plan, kept };
  const below =
    plan.kind === "join"
      ? [plan.left, plan.right]
      : plan.kind === "union"
        ? plan.inputs
        : "input" in plan
          ? [plan.input]
          : [];
  for (const input of below) {
    const found = firstEndless(input, inputs, mode);
    if (found !== null) return found;
  }
  return null;
}

function refusalOf({ plan, kept }: Endless, text: string, limit: StateLimit): HeadwaterError {
  const what = `${nameOf(plan)} keeps ${kept.what}, which ${kept.isHistory ? "are" : "are those of a stream and"} never freed: its state would grow without bound.`;
  const place = plan.span === undefined ? what : pointAt(text, plan.span, what);
  const why =
    limit === null
      ? []
      : [
          kept.isHistory
            ? "A retention does not help: a group that still gets rows keeps all its values."
            : "The retention does not reach it, because its rows carry no time. Select the time column in the subquery below it.",
        ];
  return new HeadwaterError(
    "HW-5453",
    [place, ...why, "Choose one of these:", ...choicesFor(plan, kept, limit)].join("\n"),
  );
}

function nameOf(plan: Plan): string {
  switch (plan.kind) {
    case "join":
      return (
        { semi: "IN or EXISTS", anti: "NOT EXISTS", mark: "IN", inner: "This join" }[
          plan.join as "semi" | "anti" | "mark" | "inner"
        ] ?? "This join"
      );
    case "over":
      return "OVER";
    case "sort":
      return "LIMIT";
    case "session":
      return "SESSION";
    default:
      return "This grouping";
  }
}

function choicesFor(plan: Plan, { isHistory }: KeptState, limit: StateLimit): string[] {
  const own = {
    join: [
      "  AND a.at BETWEEN b.at AND b.at + INTERVAL '1 hour'   an interval of the event times of both sides",
      "  JOIN t FOR SYSTEM_TIME AS OF PROCTIME()              rows meet the table as it is when they come",
    ],
    over: ["  PARTITION BY window_start, …                         partitions that the watermark completes"],
    session: [
      "  WATERMARK FOR at AS at - INTERVAL '5 seconds'        the stream has an event time, so sessions end",
    ],
    aggregate: ["  GROUP BY window_start, …                             groups that the watermark completes"],
  };
  const ways: readonly string[] = plan.kind in own ? own[plan.kind as keyof typeof own] : [];
  const retention = "  WITH (state_retention = '7 days')                    forget what is older";
  return [
    ...ways,
    ...(isHistory || limit !== null || plan.kind === "session" ? [] : [retention]),
    "  WITH (state_retention = 'forever')                   keep it, as far as the state bytes of the tenant go",
  ];
}
