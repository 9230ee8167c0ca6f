import type { Plan } from "./physical.js";

/** The columns of a plan's results that tell its rows apart, if its groups do: the key that a view is read by. */
export function viewKey(plan: Plan): readonly number[] | null {
  switch (plan.kind) {
    case "aggregate":
      return plan.keys.map((_, i) => i);
    case "step": {
      const key = viewKey(plan.input);
      if (key === null || plan.step.kind === "filter") return key;
      if (plan.step.kind === "window") return null;
      const { outputs } = plan.step;
      const places = key.map((index) =>
        outputs.findIndex((output) => output.kind === "column" && output.index === index),
      );
      return places.includes(-1) ? null : places;
    }
    case "sort":
      return viewKey(plan.input);
    default:
      return null;
  }
}

/** The tables that a plan reads. */
export function inputsOf(plan: Plan): readonly string[] {
  const found = new Set<string>();
  const look = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    if ("kind" in part && part.kind === "scan" && "table" in part) found.add(String(part.table));
    for (const below of Object.values(part)) look(below);
  };
  look(plan);
  return [...found];
}
