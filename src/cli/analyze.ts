import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Analysis } from "../analysis/index.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import type { Command } from "./command.js";

const FORMATS = ["text", "json", "dot", "svg"] as const;
type Format = (typeof FORMATS)[number];

export const analyze: Command = {
  name: "analyze",
  operands: ["FILE"],
  summary: "say where a dataflow needs coordination, why, and the cheapest kind",
  details:
    "FILE is an annotation file (YAML, docs/analysis.md): components with their paths, and what is known of their " +
    "streams. Every stream gets a label: Seal and Async are deterministic, Run, Inst and Diverge are not. For those " +
    "it says where the trouble begins and which seal, order or acceptance would end it. The exit code is 1 if " +
    "something worse than Async is not accepted, 2 if the file cannot be understood.",
  options: {
    format: { value: "text|json|dot|svg", help: "a report, data, a graph for Graphviz, or a picture (text)" },
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
