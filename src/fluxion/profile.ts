import { type Compilation, compiled } from "./compile.js";
import type { Stage } from "./pipeline.js";
import { WORTH_MS } from "./runtime/settings.js";

/** What the calls of stages took on the main loop, in milliseconds, by their ids: what `--profile` writes. */
export type Profile = Readonly<Record<string, number>>;

/**
 * A compilation in which a profile has decided: a stage that took long moves without being measured again, and one that
 * did not is left out. Stages that the profile does not know are measured when the program runs, as without one.
 */
export function withProfile(compilation: Compilation, profile: Profile): Compilation {
  const decided = (stage: Stage): Stage => {
    const measuredMs = profile[stage.id];
    if (measuredMs === undefined) return stage;
    return { ...stage, measuredMs, weight: measuredMs >= WORTH_MS ? "heavy" : "trivial" };
  };
  const { program, whole } = compilation;
  const plans = compilation.plans.map((plan) => ({ ...plan, stage: decided(plan.stage) }));
  return compiled({ program, whole, plans }, () => {
    const { pipeline } = compilation;
    return { ...pipeline, stages: pipeline.stages.map(decided) };
  });
}

/** A profile says that it stays. */
export function isMeasuredSmall({ weight, measuredMs }: Stage): boolean {
  return measuredMs !== undefined && weight === "trivial";
}
