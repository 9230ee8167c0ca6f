import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { Analysis } from "../analysis/index.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import type { Command } from "./command.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";
import type { Terminal } from "./terminal.js";

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
    check: { help: "run the components that can be run, and try whether their annotations are true" },
    seed: { value: "N", help: "what --check draws its deliveries from (1)" },
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
    if (args.flags.has("check")) return await checked(result, dirname(resolve(file)), args, format, terminal);
    terminal.out(shown(analysis, result, format, explain, args.flags.has("json")));
    return result.open.length > 0 ? 1 : 0;
  },
};

/** Exit code 1 if an annotation is not true, or if something worse than Async is not accepted. */
async function checked(
  analysis: Analysis,
  folder: string,
  { values, flags }: Arguments,
  format: Format,
  terminal: Terminal,
): Promise<number> {
  if (format === "dot" || format === "svg")
    throw misused(analyze, `--check goes with text and json, not with ${format}.`);
  const seed = Number(values.get("seed") ?? 1);
  if (!Number.isSafeInteger(seed))
    throw misused(analyze, `--seed is a whole number, not "${values.get("seed")}".`);
  const { check, checkedComponent, queryComponent, showChecked } = await import("../check/index.js");
  const results = await check(
    analysis,
    async ({ runs }) => {
      if (runs === undefined) return null;
      if ("sql" in runs) return await queryComponent(runs);
      const exported = await loadModule(findProgram(runs.module, folder));
      return checkedComponent(exported.default, runs.module);
    },
    seed,
  );
  if (format === "json") terminal.out(JSON.stringify({ checks: results }, null, flags.has("json") ? 0 : 2));
  else terminal.out(results.map(showChecked).join("\n\n"));
  const broken = results.some(({ result }) => result === "broken");
  return broken || analysis.open.length > 0 ? 1 : 0;
}

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
