import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Analysis } from "../analysis/index.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import type { Command } from "./command.js";

const FORMATS = ["text", "json", "dot", "svg"] as const;
const DEFAULT_SEEDS = 50;
type Format = (typeof FORMATS)[number];

export const analyze: Command = {
  name: "analyze",
  operands: ["FILE"],
  summary: "say where a dataflow needs coordination, why, and the cheapest kind",
  details:
    "FILE is an annotation file (YAML, docs/analysis.md): components with their paths, and what is known of their " +
    "streams. Every stream gets a label: Seal and Async are deterministic, Run, Inst and Diverge are not. For those " +
    "it says where the trouble begins and which seal, order or acceptance would end it. The exit code is 1 if " +
    "something worse than Async is not accepted, 2 if the file cannot be understood. With --check, what the components " +
    "run is really run: in any order, again, side by side, and compared with the labels. A label that is proved wrong " +
    "also makes the exit code 1; an anomaly that a label predicts is shown.",
  options: {
    format: { value: "text|json|dot|svg", help: "a report, data, a graph for Graphviz, or a picture (text)" },
    check: { help: "run the components that can be run, and try to prove the labels wrong" },
    seeds: { value: "N", help: `with --check: how many seeds to try (${DEFAULT_SEEDS})` },
    seed: { value: "K", help: "with --check: only this seed" },
    explain: { value: "STREAM", help: "only how the label of this stream came about" },
  },
  async run(args, terminal) {
    const format = formatOf(args);
    const explain = args.values.get("explain");
    if (explain !== undefined && (format === "dot" || format === "svg")) {
      throw misused(analyze, `--explain goes with text and json, not with ${format}.`);
    }
    const file = args.operands[0] ?? "";
    const text = await textOf(file);
    const analysis = await import("../analysis/index.js");
    const result = analysis.analyze(
      await analysis.readDataflow(text, { source: relative(process.cwd(), file) || file }),
    );
    if (explain !== undefined) analysis.checkStream(explain, result);
    if (args.flags.has("check")) {
      if (explain !== undefined || format === "dot" || format === "svg")
        throw misused(analyze, "--check goes with text and json, and not with --explain.");
      const { runCheck } = await import("./check.js");
      const isTrue = await runCheck(
        result,
        { file, seeds: seedsOf(args), json: format === "json" },
        terminal,
      );
      return isTrue && result.open.length === 0 ? 0 : 1;
    }
    terminal.out(shown(analysis, result, format, explain, args.flags.has("json")));
    return result.open.length > 0 ? 1 : 0;
  },
};

function shown(
  { showAnalysis, showDerivation, toJson, toDot, toSvg }: typeof import("../analysis/index.js"),
  analysis: Analysis,
  format: Format,
  explain: string | undefined,
  oneLine: boolean,
): string {
  switch (format) {
    case "text":
      return explain === undefined ? showAnalysis(analysis) : showDerivation(explain, analysis);
    case "json": {
      const data = toJson(analysis);
      const asked = explain === undefined ? data : data.streams.find(({ name }) => name === explain);
      return JSON.stringify(asked, null, oneLine ? 0 : 2);
    }
    case "dot":
      return toDot(analysis);
    case "svg":
      return toSvg(analysis);
  }
}

function seedsOf({ values }: Arguments): number[] {
  const whole = (option: string, least: number) => {
    const value = Number(values.get(option));
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw misused(
      analyze,
      `--${option} is a whole number of at least ${least}, not "${values.get(option)}".`,
    );
  };
  const first = values.has("seed") ? whole("seed", 0) : 1;
  const count = values.has("seeds") ? whole("seeds", 1) : values.has("seed") ? 1 : DEFAULT_SEEDS;
  return Array.from({ length: count }, (_, i) => first + i);
}

function formatOf({ values, flags }: Arguments): Format {
  const written = values.get("format");
  if (written === undefined) return flags.has("json") ? "json" : "text";
  const format = FORMATS.find((each) => each === written);
  if (format === undefined) {
    throw misused(
      analyze,
      `--format is ${FORMATS.join(", ")}, not "${written}".${didYouMean(written, FORMATS)}`,
    );
  }
  if (flags.has("json") && format !== "json")
    throw misused(analyze, `--json and --format ${format} exclude each other.`);
  return format;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw misused(
      analyze,
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
