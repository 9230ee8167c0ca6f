import { invariant } from "../../errors.js";
import type { ProgramSpec, RequestSpec } from "./program.js";
import { simplerPrograms } from "./simpler.js";

/** Does this program with these requests still show what was wrong? */
export type Fails = (spec: ProgramSpec, workload: readonly RequestSpec[]) => Promise<boolean>;

export interface Shrunk {
  readonly spec: ProgramSpec;
  readonly workload: readonly RequestSpec[];
  /** How many programs were tried. */
  readonly attempts: number;
}

const ATTEMPTS_MAX = 3000;

/**
 * Makes a failing program smaller while it goes on failing: takes away requests, then operations, methods, fields
 * and children, then makes what is left simpler, and begins again until nothing can be taken away. What is found is
 * a local minimum, or the best there was after `attemptsMax` tries.
 */
export async function shrink(
  spec: ProgramSpec,
  workload: readonly RequestSpec[],
  fails: Fails,
  attemptsMax = ATTEMPTS_MAX,
): Promise<Shrunk> {
  let best = { spec, workload };
  let attempts = 0;
  const isBetter = async (candidate: typeof best) => {
    if (attempts >= attemptsMax) return false;
    attempts += 1;
    if (!(await fails(candidate.spec, candidate.workload))) return false;
    best = candidate;
    return true;
  };

  for (let before = ""; before !== JSON.stringify(best) && attempts < attemptsMax; ) {
    before = JSON.stringify(best);
    await dropRequests(
      () => best.workload,
      (fewer) => isBetter({ spec: best.spec, workload: fewer }),
    );
    // A successful candidate changes what the candidates after it stand on, so they are drawn anew from there.
    for (let from = 0, found = true; found && attempts < attemptsMax; ) {
      found = false;
      let index = 0;
      for (const candidate of simplerPrograms(best.spec, best.workload)) {
        if (index++ < from) continue;
        if (!(await isBetter(candidate))) continue;
        from = index - 1;
        found = true;
        break;
      }
    }
    await simplifyRequests(
      () => best.workload,
      (simpler) => isBetter({ spec: best.spec, workload: simpler }),
    );
  }
  return { ...best, attempts };
}

type Workload = readonly RequestSpec[];

/** Takes away halves, then quarters, and so on down to single requests, from the end. */
async function dropRequests(
  current: () => Workload,
  tryThese: (fewer: Workload) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(current().length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let end = current().length; end > 0; end -= size) {
      const from = Math.max(0, end - size);
      await tryThese(without(current(), from, end - from));
    }
  }
}

/** The requests without some of them; a request that waited for one of those waits no more. */
function without(workload: Workload, from: number, count: number): Workload {
  const kept = workload.map((_, index) => index).filter((index) => index < from || index >= from + count);
  return kept.map((index) => {
    const request = workload[index];
    invariant(request !== undefined, "a kept request is part of the workload");
    const after = request.after === null ? -1 : kept.indexOf(request.after);
    return { ...request, after: after < 0 ? null : after };
  });
}

async function simplifyRequests(
  current: () => Workload,
  tryThese: (simpler: Workload) => Promise<boolean>,
): Promise<void> {
  for (const index of current().keys()) {
    for (const change of [{ client: null }, { after: null }, { at: 0 }, { args: [0, 0, 0] }]) {
      const request = current()[index];
      const simpler = { ...request, ...change } as RequestSpec;
      if (JSON.stringify(simpler) === JSON.stringify(request)) continue;
      await tryThese(current().map((other, i) => (i === index ? simpler : other)));
    }
  }
}
