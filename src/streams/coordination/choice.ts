import { HeadwaterError } from "../../errors.js";
import type { CoordinationChoice } from "./facts.js";

const PARTITIONS_MAX = 256;
const KINDS = ["order", "seal", "seal on (columns)", "accept"];
const SEAL_ON = /^seal\s+on\s*\(([^()]+)\)$/;

/** What the registrant of a query says of its coordination, in `WITH (…)` or as options. */
export interface RequestedCoordination {
  readonly coordination?: string | undefined;
  readonly reason?: string | undefined;
  readonly partitions?: string | number | undefined;
}

/** What was chosen for a query, and into how many partitions it is to be divided. */
export function chosen({ coordination, reason = "", partitions }: RequestedCoordination): {
  readonly coordination: CoordinationChoice | null;
  readonly partitions: number;
} {
  return { coordination: choiceOf(coordination, reason.trim()), partitions: partitionsOf(partitions) };
}

function choiceOf(kind: string | undefined, reason: string): CoordinationChoice | null {
  const on = SEAL_ON.exec(kind?.trim() ?? "")?.[1];
  if (on !== undefined) return { kind: "seal", on: on.split(",").map((name) => name.trim()) };
  switch (kind) {
    case undefined:
      return null;
    case "order":
      return { kind, reason: reason || "chosen at registration" };
    case "seal":
      return { kind };
    case "accept":
      if (reason !== "") return { kind, reason };
      throw new HeadwaterError(
        "HW-5451",
        "a label is accepted with a written reason: WITH (coordination = 'accept', reason = '…').",
      );
    default:
      throw new HeadwaterError(
        "HW-5451",
        `${JSON.stringify(kind.slice(0, 40))} is no coordination; there are ${KINDS.join(", ")}.`,
      );
  }
}

function partitionsOf(given: string | number | undefined): number {
  const count = Number(given ?? 1);
  if (Number.isInteger(count) && count >= 1 && count <= PARTITIONS_MAX) return count;
  throw new HeadwaterError("HW-5452", `a query has 1 to ${PARTITIONS_MAX} partitions, not ${String(given)}.`);
}

/** A choice as it would be written. */
export function requestOf(choice: CoordinationChoice | null): Omit<RequestedCoordination, "partitions"> {
  if (choice === null) return {};
  if (choice.kind !== "seal") return { coordination: choice.kind, reason: choice.reason };
  return { coordination: choice.on === undefined ? "seal" : `seal on (${choice.on.join(", ")})` };
}
