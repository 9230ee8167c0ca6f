import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HeadwaterError } from "../errors.js";
import { continued } from "./awaits/index.js";
import { Knowledge, type ProjectKnowledge } from "./callees/index.js";
import type { Pipeline } from "./pipeline.js";
import {
  assemble,
  decide,
  type LookingOptions,
  lookAtWhole,
  namesOf,
  routesOf,
  type StagePlan,
  type WholeProgram,
} from "./pipeliner/index.js";
import {
  loadingDiagnostics,
  type ReadingOptions,
  readProgram,
  type SourceProgram,
  unseenDiagnostics,
} from "./source/index.js";

/** A compiled program: what the linker needs, and the pipeline as data, put together when it is to be shown. */
export interface Compilation {
  readonly pipeline: Pipeline;
  readonly plans: readonly StagePlan[];
  readonly program: SourceProgram;
  readonly whole: WholeProgram;
}

export interface CompileOptions extends ReadingOptions, LookingOptions {
  /** Known callees of the project; without it, `headwater.fluxions.json` or package.json say. */
  readonly knowledge?: ProjectKnowledge;
}

export function compile(entry: string, options: CompileOptions = {}): Compilation {
  const path = resolve(entry);
  const known = options.knowledge ?? projectKnowledge(dirname(path));
  const packages = [...(options.packages ?? []), ...(known.packages ?? [])];
  const program = readProgram(path, { ...options, packages });
  const whole = lookAtWhole(program, new Knowledge(known), options);
  const names = namesOf(whole);
  const { plans, diagnostics } = decide(whole, names);
  return compiled({ plans, program, whole }, () => {
    const moved = new Set(plans.flatMap((plan) => (plan.kind === "part" ? [plan.node] : [])));
    const written = continued(whole, names, moved, options);
    return {
      entry: path,
      files: [...program.modules.keys()],
      ...assemble(written.whole, namesOf(written.whole), written.moved),
      stages: plans.map(({ stage }) => stage),
      routes: routesOf(whole),
      diagnostics: [
        ...loadingDiagnostics(program),
        ...diagnostics(),
        ...(plans.length === 0 ? unseenDiagnostics(program) : []),
      ],
      uncut: written.uncut,
    };
  });
}

/** Running a program does not need its pipeline: it is put together when it is to be shown. */
export function compiled(facts: Omit<Compilation, "pipeline">, pipeline: () => Pipeline): Compilation {
  let made: Pipeline | null = null;
  return {
    ...facts,
    get pipeline() {
      made ??= pipeline();
      return made;
    },
  };
}

/** What the project says about its callees: the nearest file that does. */
function projectKnowledge(folder: string): ProjectKnowledge {
  for (let at = folder; ; at = dirname(at)) {
    const own = join(at, "headwater.fluxions.json");
    if (existsSync(own)) return read(own) as ProjectKnowledge;
    const manifest = join(at, "package.json");
    if (existsSync(manifest)) {
      const { headwater } = read(manifest) as { headwater?: { fluxions?: ProjectKnowledge } };
      if (headwater?.fluxions !== undefined) return headwater.fluxions;
    }
    if (at === dirname(at)) return {};
  }
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new HeadwaterError(
      "HW-7001",
      `${file} cannot be read: ${error instanceof Error ? error.message : ""}`,
    );
  }
}
