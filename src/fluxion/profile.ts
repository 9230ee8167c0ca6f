import { type Compilation, compiled } from "./compile.js";
import type { Stage } from "./pipeline.js";
import { WORTH_MS } from "./runtime/settings.js";

/** What `--profile` writes. */
export interface Profile {
  /** What the calls of stages took on the main loop, in milliseconds, by their ids. */
  readonly stages: Readonly<Record<string, number>>;
  /** Where the main loop spent its time, stages and all else. */
  readonly time?: SampledTime;
}

export interface SampledTime {
  /** Without the time in which there was nothing to do. */
  readonly totalMs: number;
  readonly chains: readonly TimeAt[];
}

/** The time in which certain functions of the program were under way, from the outermost to the innermost. */
export interface TimeAt {
  /** Where they begin: `file:line:column`. */
  readonly functions: readonly string[];
  /** The package that the innermost has called, if it has. */
  readonly within: string | null;
  readonly ms: number;
}

/**
 * A compilation in which a profile has decided: a stage that took long moves without being measured again, and one that
 * did not is left out. Stages that the profile does not know are measured when the program runs, as without one.
 */
export function withProfile(compilation: Compilation, profile: Profile): Compilation {
  const decided = (stage: Stage): Stage => {
    const measuredMs = profile.stages[stage.id];
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
