import { dirname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Compilation } from "../compile.js";
import type { Generated, Linked, Stage } from "../pipeline.js";
import { addSlice, emptySlice, homeOf, type ModuleSlice, type StagePlan } from "../pipeliner/index.js";
import type { StageEntry } from "../runtime/manifest.js";
import { fingerprint } from "../runtime/same-texts.js";
import type { SourceModule } from "../source/index.js";
import { mainCode } from "./main-code.js";
import { type OutputFolder, type WorkerFile, workerCode } from "./worker-code.js";

export interface LinkOptions {
  /** What generated code imports the runtime by. */
  readonly runtime?: string;
  /** Also stages that are plainly not worth it, for tests. */
  readonly trivial?: boolean;
  /** Where everything will lie; without it, files stay where they are and workers find packages by absolute paths. */
  readonly place?: OutputFolder;
  /** The entry makes the stages known itself. */
  readonly install?: boolean;
}

/** The program with its stages taken out: changed files, modules for workers, and what a runtime must know of them. */
export function link({ plans: all, program }: Compilation, options: LinkOptions = {}): Linked {
  const runtime = options.runtime ?? new URL("../runtime/index.js", import.meta.url).href;
  const plans = all.filter(({ stage }) => options.trivial === true || stage.weight !== "trivial");
  const slices = merged(plans);
  const names = new Map<SourceModule, WorkerFile>();
  for (const module of program.modules.values()) {
    if (!slices.has(module)) continue;
    names.set(module, { name: `w${names.size + 1}${endingOf(module)}`, format: module.format });
  }
  const files = new Map<string, Generated>();
  const workers = new Map<string, Generated>();
  for (const module of program.modules.values()) {
    const own = plans.filter((plan) => plan.module === module);
    const installs = options.install === true && module.path === program.entry;
    if (own.length > 0 || installs) {
      const manifest = installs ? manifestFrom(module, options.place) : null;
      const text = mainCode(module, own, { runtime: runtimeFor(module, runtime), manifest });
      const map = text.generateMap({ source: module.path, includeContent: true, hires: "boundary" });
      files.set(module.path, { code: text.toString(), map: map.toString() });
    }
    const slice = slices.get(module);
    const file = names.get(module);
    if (slice === undefined || file === undefined) continue;
    const here = plans.filter((plan) => homeOf(plan) === module);
    const bundle = workerCode(slice, here, { files: names, place: options.place ?? null });
    const map = bundle.generateMap({ includeContent: true, hires: "boundary" });
    workers.set(file.name, { code: bundle.toString(), map: map.toString() });
  }
  const stages = plans.map((plan) => ({ ...plan.stage, worker: names.get(homeOf(plan))?.name ?? "" }));
  return {
    files,
    workers,
    manifest: {
      version: 1,
      entry: program.entry,
      stages: stages.map(entryOf),
      ...(program.texts.size > 0 && { texts: fingerprintsOf(program, options.place) }),
    },
  };
}

function fingerprintsOf({ texts }: Compilation["program"], place: OutputFolder | undefined) {
  return Object.fromEntries(
    [...texts].map(([path, text]) => [place === undefined ? path : place.file(path), fingerprint(text)]),
  );
}

function entryOf({ id, name, place, worker, receivers, inputs, weight, watched }: Stage): StageEntry {
  const { file, line, column } = place;
  const kinds = receivers.map(({ kind }) => kind);
  const entry = { id, file, line, column, name, worker, receivers: kinds, inputs };
  return watched === undefined ? { ...entry, heavy: weight === "heavy" } : { ...entry, watched };
}

/** The entry need not be in the uppermost folder. */
function manifestFrom({ path }: SourceModule, place: OutputFolder | undefined): string {
  const up = place === undefined ? "" : relative(dirname(place.file(path)), place.worker);
  return up === "" ? "./manifest.json" : `${up.replaceAll(sep, "/")}/manifest.json`;
}

/** CommonJS takes a path, modules an address. */
function runtimeFor(module: SourceModule, runtime: string): string {
  return module.format === "commonjs" && runtime.startsWith("file:") ? fileURLToPath(runtime) : runtime;
}

function endingOf({ format, path }: SourceModule): string {
  return `.${format === "module" ? "m" : "c"}${/\.[cm]?ts$/.test(path) ? "ts" : "js"}`;
}

/** What all stages together need of each file. */
function merged(plans: readonly StagePlan[]): Map<SourceModule, ModuleSlice> {
  const all = new Map<SourceModule, ModuleSlice>();
  for (const plan of plans) {
    const own = homeOf(plan);
    const { slices } = plan;
    const needed = slices.has(own) ? slices : new Map([...slices, [own, emptySlice(own)] as const]);
    for (const [module, slice] of needed) {
      const known = all.get(module) ?? emptySlice(module);
      all.set(module, known);
      addSlice(known, slice);
    }
  }
  return all;
}
