import { dirname, relative } from "node:path";
import type { Compilation, SampledTime } from "../fluxion/index.js";
import { compilesOnce } from "../fluxion/once.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { profileOf } from "./fluxion-options.js";
import { findApp } from "./program-file.js";
import type { Terminal } from "./terminal.js";

const SHAPES = ["print", "dry-run", "analyze", "out"] as const;

export const compile: CliCommand = {
  name: "compile",
  operands: ["PROGRAM"],
  summary: "turn a Node program into a pipeline whose heavy stages can run on workers",
  details:
    "PROGRAM is the file that Node would run. Without options it says which stages can leave the main loop and, for " +
    "everything that stays, why and what would free it (docs/fluxions.md). --print writes the program in the fluxional " +
    "language, --dry-run a picture, --out a folder that runs with plain node. The program itself is not changed.",
  options: {
    print: { help: "the program in the fluxional language, on stdout" },
    isolated: { help: "with --print: parts that can leave the main loop reach `next` by messages" },
    "dry-run": { help: "the pipeline as a picture (SVG) on stdout, and in words on stderr" },
    out: { value: "DIR", help: "write the compiled program there" },
    analyze: { help: "the pipeline as a dataflow: where it would need coordination" },
    packages: { value: "A,B", help: "packages to be compiled along with the program" },
    profiled: {
      value: "FILE",
      help: "say where the time goes, and decide by what `run --fluxions --profile FILE` has measured",
    },
  },
  async run(args, terminal) {
    checkShape(args);
    const fluxion = await import("../fluxion/index.js");
    compilesOnce();
    const packages = args.values.get("packages")?.split(",") ?? [];
    const file = args.values.get("profiled");
    const compilation = fluxion.compile(findApp(args.operands[0] ?? "", process.cwd()), { packages });
    if (file === undefined) return await show(fluxion, compilation, args, terminal);
    const profile = profileOf(file, compile);
    return await show(fluxion, fluxion.withProfile(compilation, profile), args, terminal, profile.time);
  },
};

function checkShape({ flags, values }: Arguments): void {
  const asked = SHAPES.filter((each) => flags.has(each) || values.has(each));
  if (flags.has("isolated") && !flags.has("print")) throw misused(compile, "--isolated is for --print.");
  if (asked.length > 1) throw misused(compile, `--${asked.join(" and --")} exclude each other.`);
}

async function show(
  fluxion: typeof import("../fluxion/index.js"),
  compilation: Compilation,
  { flags, values }: Arguments,
  terminal: Terminal,
  time?: SampledTime,
): Promise<number> {
  const { pipeline } = compilation;
  const folder = dirname(pipeline.entry);
  const out = values.get("out");
  if (flags.has("print")) {
    const written = fluxion.fluxionsOf(pipeline);
    if (pipeline.uncut.length > 0) terminal.say(fluxion.showUncut(pipeline, folder));
    terminal.out(
      fluxion.print(flags.has("isolated") ? fluxion.withDispatcher(written, pipeline) : written).trimEnd(),
    );
  } else if (out !== undefined) {
    const written = fluxion.writeProgram(compilation, out);
    terminal.say(fluxion.showPipeline(pipeline, folder));
    const entry = relative(process.cwd(), written.entry) || written.entry;
    terminal.out(flags.has("json") ? JSON.stringify({ entry, files: written.files }) : entry);
  } else if (flags.has("analyze")) {
    const { analyze, showAnalysis, toJson } = await import("../analysis/index.js");
    const analysis = analyze(fluxion.dataflowOf(pipeline));
    terminal.out(flags.has("json") ? JSON.stringify(toJson(analysis)) : showAnalysis(analysis));
    return analysis.open.length > 0 ? 1 : 0;
  } else if (flags.has("json")) {
    terminal.out(JSON.stringify(pipeline));
  } else if (flags.has("dry-run")) {
    terminal.say(fluxion.showPipeline(pipeline, folder));
    terminal.out(fluxion.pipelineToSvg(pipeline));
  } else if (time !== undefined) {
    terminal.out(fluxion.showTime(pipeline, time, folder));
    terminal.out(`\n${fluxion.showPipeline(fluxion.byTime(pipeline, time), folder)}`);
  } else {
    terminal.out(fluxion.showPipeline(pipeline, folder));
  }
  return 0;
}
