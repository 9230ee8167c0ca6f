import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { Analysis, Component } from "../analysis/index.js";
import type { Checked } from "../check/index.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import type { Command } from "./command.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";

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
    "something worse than Async is not accepted or an annotation was found not to be true, 2 if the file cannot be " +
    "understood.",
  options: {
    format: { value: "text|json|dot|svg", help: "a report, data, a graph for Graphviz, or a picture (text)" },
    check: { help: "run the components that can be run, and try whether their annotations are true" },
    seed: { value: "N", help: "what --check draws its deliveries from (1)" },
    explain: { value: "STREAM", help: "only how the label of this stream came about" },
  },
  async run(args, terminal) {
    const { format, explain, seed } = wishesOf(args);
    const file = args.operands[0] ?? "";
    const text = await textOf(file);
    const analysis = await import("../analysis/index.js");
    const dataflow = await analysis.readDataflow(text, { source: relative(process.cwd(), file) || file });
    const result = analysis.analyze(dataflow);
    if (explain !== null) analysis.checkStream(explain, result);
    const checks = seed === null ? null : await checked(result, dirname(resolve(file)), seed);
    terminal.out(shown(analysis, result, { format, explain, seed }, checks, args.flags.has("json")));
    const broken = checks?.results.some((each) => each.result === "broken") ?? false;
    return broken || result.open.length > 0 ? 1 : 0;
  },
};

/** What the options ask for, checked against each other. */
interface Wishes {
  readonly format: Format;
  readonly explain: string | null;
  /** What the check draws from; `null` without `--check`. */
  readonly seed: number | null;
}

function wishesOf(args: Arguments): Wishes {
  const format = formatOf(args);
  const explain = args.values.get("explain") ?? null;
  const check = args.flags.has("check");
  const picture = format === "dot" || format === "svg";
  if (picture && (check || explain !== null)) {
    throw misused(analyze, `--${check ? "check" : "explain"} goes with text and json, not with ${format}.`);
  }
  if (check && explain !== null) throw misused(analyze, "--check and --explain exclude each other.");
  const written = args.values.get("seed");
  if (written !== undefined && !check) throw misused(analyze, "--seed is for --check.");
  if (written !== undefined && !/^\d{1,15}$/.test(written)) {
    throw misused(analyze, `--seed is a whole number, not "${written}".`);
  }
  return { format, explain, seed: check ? Number(written ?? 1) : null };
}

interface Checks {
  readonly results: readonly Checked[];
  readonly text: string;
}

async function checked(analysis: Analysis, folder: string, seed: number): Promise<Checks> {
  const { check, checkedComponent, queryComponent, showChecked } = await import("../check/index.js");
  const runnable = async ({ runs }: Component) => {
    if (runs === undefined) return null;
    if ("sql" in runs) return await queryComponent(runs);
    const exported = await loadModule(findProgram(runs.module, folder));
    return checkedComponent(exported.default, runs.module);
  };
  const results = await check(analysis, runnable, seed);
  return { results, text: results.map(showChecked).join("\n\n") };
}

function shown(
  { showAnalysis, showDerivation, toJson, toDot, toSvg }: typeof import("../analysis/index.js"),
  analysis: Analysis,
  { format, explain }: Wishes,
  checks: Checks | null,
  oneLine: boolean,
): string {
  switch (format) {
    case "text": {
      if (explain !== null) return showDerivation(explain, analysis);
      return [showAnalysis(analysis), ...(checks === null ? [] : [checks.text])].join("\n\n");
    }
    case "json": {
      const data = toJson(analysis);
      const all = checks === null ? data : { ...data, checks: checks.results };
      const asked = explain === null ? all : data.streams.find(({ name }) => name === explain);
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
