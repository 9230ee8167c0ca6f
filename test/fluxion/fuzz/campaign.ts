import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CompileOptions } from "headwater/fluxion";
import { ROOT } from "../../house/source.js";
import { smallest } from "./choices.js";
import { Comparison, type Difference } from "./compare.js";
import { type Program, programOf } from "./program/generate.js";
import { Elsewhere } from "./threads.js";

/** A program that does something else when it is compiled, as small as it could be made. */
export interface Finding {
  readonly seed: number;
  readonly program: Program;
  readonly difference: Difference;
}

export interface Campaign {
  readonly programs: number;
  /** Of those: with something that can run elsewhere. */
  readonly withStages: number;
  /** Calls of stages that did. */
  readonly moved: number;
  readonly findings: readonly Finding[];
}

export interface CampaignOptions {
  readonly seed: number;
  /** Whether to go on with another program. */
  readonly goesOn: (programs: number, findings: number) => boolean;
  readonly compile?: CompileOptions;
  /** Plants a bug: a compiler that takes packages that cheat at their word. */
  readonly trusting?: boolean;
  /** Whether what is found is made smaller. */
  readonly shrinks: boolean;
}

/** Runs random programs both ways, one for each seed from the first on. */
export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  process.env.NODE_ENV = "production"; // Express tells less of errors then
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", "fuzz-"));
  const elsewhere = new Elsewhere();
  const comparison = new Comparison(folder, elsewhere, options.compile, options.trusting);
  const findings: Finding[] = [];
  let [programs, withStages, moved] = [0, 0, 0];
  try {
    while (options.goesOn(programs, findings.length)) {
      const seed = options.seed + programs;
      const { program, choices } = programOf(seed);
      const compared = await comparison.compare(program);
      programs += 1;
      moved += compared.moved;
      if (compared.stages > 0) withStages += 1;
      if (compared.difference === null) continue;
      const found = { seed, program, difference: compared.difference };
      findings.push(options.shrinks ? await smaller(comparison, found, choices) : found);
    }
  } finally {
    await elsewhere.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return { programs, withStages, moved, findings };
}

async function smaller(comparison: Comparison, found: Finding, choices: readonly number[]): Promise<Finding> {
  let best = found;
  await smallest(choices, async (candidate) => {
    const { program } = programOf(candidate);
    const { difference } = await comparison.compare(program).catch(() => ({ difference: null }));
    if (difference === null) return false;
    best = { seed: found.seed, program, difference };
    return true;
  });
  return best;
}

/** A finding for people: the program, what was asked, and both behaviours. */
export function shown({ seed, program, difference }: Finding): string {
  const files = Object.entries(program.files).map(([name, text]) => `--- ${name}\n${text}`);
  return [
    `A compiled program does something else (seed ${seed}; ${difference.how}):`,
    ...files,
    `--- requests: ${program.requests.map(({ method, path }) => `${method} ${path}`).join(", ")}`,
    `--- plain: ${JSON.stringify(difference.plain, null, 1)}`,
    `--- compiled: ${JSON.stringify(difference.compiled, null, 1)}`,
  ].join("\n");
}
