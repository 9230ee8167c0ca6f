import type { Diagnostic, Part, Pipeline, Stage } from "../pipeline.js";

/** Where a part runs, and why. */
export interface Placement {
  readonly where: "main loop" | "workers" | "main loop, with stages on workers";
  readonly why: readonly string[];
  readonly stages: readonly Stage[];
}

const REASONS_MAX = 3;

export function placementOf({ stages, diagnostics }: Pipeline, part: Part): Placement {
  const own = stages.find(
    (each) => each.kind === "part" && isSame(each.place, part.place) && part.name !== "main",
  );
  if (own !== undefined) {
    const why =
      own.weight === "trivial"
        ? "isolated, but plainly not worth a worker"
        : "isolated: it needs only its inputs";
    return { where: own.weight === "trivial" ? "main loop" : "workers", why: [why], stages: [own] };
  }
  const inside = stages.filter(
    (each) =>
      each.kind !== "part" &&
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
