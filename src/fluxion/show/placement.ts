import type { Diagnostic, Part, Pipeline, Stage } from "../pipeline.js";
import { isMeasuredSmall } from "../profile.js";

/** Where a part runs, and why. */
export interface PartPlacement {
  readonly where: "main loop" | "workers" | "main loop, with stages on workers";
  readonly why: readonly string[];
  readonly stages: readonly Stage[];
}

const REASONS_MAX = 3;

export function placementOf({ stages, diagnostics }: Pipeline, part: Part): PartPlacement {
  const own = stages.find(
    (each) => each.kind === "part" && isSame(each.place, part.place) && part.name !== "main",
  );
  if (own !== undefined) {
    const where = own.weight === "trivial" ? "main loop" : "workers";
    return { where, why: [whyOf(own)], stages: [own] };
  }
  const inside = stages.filter(
    (each) =>
      each.kind !== "part" &&
      !isMeasuredSmall(each) &&
      each.place.file === part.place.file &&
      isWithin(each, part) &&
      part.name !== "main",
  );
  return {
    where: inside.length > 0 ? "main loop, with stages on workers" : "main loop",
    why: reasons(diagnostics, part),
    stages: inside,
  };
}

function whyOf({ weight, measuredMs }: Stage): string {
  const measured = measuredMs === undefined ? "" : ` (measured ${Number(measuredMs.toPrecision(2))} ms)`;
  if (weight !== "trivial") return `isolated: it needs only its inputs${measured}`;
  return measured === ""
    ? "isolated, but plainly not worth a worker"
    : `isolated, but not worth a worker${measured}`;
}

function reasons(diagnostics: readonly Diagnostic[], part: Part): string[] {
  if (part.name === "main") return ["the program itself: it listens, and effects are its own"];
  const own = diagnostics.filter((each) => isSame(each.subjectPlace, part.place));
  const told = own
    .slice(0, REASONS_MAX)
    .map(({ code, place, reason }) => `${code} ${place.line}:${place.column} ${reason}`);
  return own.length > REASONS_MAX ? [...told, `and ${own.length - REASONS_MAX} more`] : told;
}

function isSame(a: Part["place"], b: Part["place"]): boolean {
  return a.file === b.file && a.start === b.start;
}

function isWithin({ place }: Stage, part: Part): boolean {
  return place.start >= part.place.start && place.end <= part.place.end;
}
