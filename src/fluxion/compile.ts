import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HeadwaterError } from "../errors.js";
import { continued } from "./awaits/index.js";
import { Knowledge, type ProjectKnowledge } from "./callees/index.js";
import type { Diagnostic, Pipeline } from "./pipeline.js";
import {
  assemble,
  decide,
  type LookingOptions,
  lookAtWhole,
  namesOf,
  routesOf,
  type StagePlan,
  type WholeProgram,
  watchedPlans,
} from "./pipeliner/index.js";
import {
  loadingDiagnostics,
  type ReadingOptions,
  readProgram,
  type SourceProgram,
  TooEntangled,
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
  const packages = [...new Set([...(options.packages ?? []), ...(known.packages ?? [])])];
  return compileAlong(path, packages, [], new Knowledge(known), options);
}

/** With as many of the packages as can be followed. */
function compileAlong(
  path: string,
  packages: readonly string[],
  left: readonly Diagnostic[],
  knowledge: Knowledge,
  options: CompileOptions,
): Compilation {
  const program = readProgram(path, { ...options, packages });
  try {
    return compileOnce(program, left, knowledge, options);
  } catch (error) {
    if (!(error instanceof TooEntangled)) throw error;
    const [largest = ""] = packages.toSorted((a, b) => filesOf(program, b) - filesOf(program, a));
    const others = packages.filter((each) => each !== largest);
    return compileAlong(path, others, [...left, ...tooEntangled(program, largest)], knowledge, options);
  }
}

function filesOf({ modules }: SourceProgram, name: string): number {
  return [...modules.keys()].filter((path) => path.includes(`/node_modules/${name}/`)).length;
}

/** Said where the program loads the package. */
function tooEntangled(program: SourceProgram, name: string): Diagnostic[] {
  const files = filesOf(program, name);
  for (const module of program.modules.values()) {
    const load = module.loads.find(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`));
    if (load === undefined || module.path.includes(`/node_modules/${name}/`)) continue;
    const place = module.place(load.node);
    const reason = `too much may be anywhere in the ${files} ${files === 1 ? "file" : "files"} of ${name}: nothing of it is looked at`;
    const advice = `leave ${name} out of --packages, and say in headwater.fluxions.json what is known of its functions`;
    return [{ code: "HW-7016", place, subject: name, subjectPlace: place, reason, advice }];
  }
  return [];
}

function compileOnce(
  program: SourceProgram,
  left: readonly Diagnostic[],
  knowledge: Knowledge,
  options: CompileOptions,
): Compilation {
  const whole = lookAtWhole(program, knowledge, options);
  const names = namesOf(whole);
  const { plans: proved, diagnostics } = decide(whole, names);
  const plans = [...proved, ...watchedPlans(whole, proved, options)];
  program.effort.isOver = true; // what is shown is asked for when all is decided
  return compiled({ plans, program, whole }, () => {
    const moved = new Set(plans.flatMap((plan) => (plan.kind === "part" ? [plan.node] : [])));
    const written = continued(whole, names, moved, options);
    return {
      entry: program.entry,
      files: [...program.modules.keys()],
      ...assemble(written.whole, namesOf(written.whole), written.moved),
      stages: plans.map(({ stage }) => stage),
      routes: routesOf(whole),
      diagnostics: [
        ...left,
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
