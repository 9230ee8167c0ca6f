import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Analysis, BaselineComparison, toJson } from "../analysis/index.js";
import type { ProgramFacts } from "../dataflow/index.js";
import { HeadwaterError } from "../errors.js";
import { checkPart } from "../packages.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused, unreadable } from "./arguments.js";
import { type Checks, runCheck } from "./check.js";
import type { CliCommand } from "./command.js";
import { findProgram } from "./program-file.js";
import { report } from "./report.js";
import type { Terminal } from "./terminal.js";
import { packageVersion } from "./version.js";

const FORMATS = ["text", "json", "dot", "svg", "sarif"] as const;
/** An internal failure, as in sysexits.h: not to be taken for a finding. */
const BROKEN = 70;
const DEFAULT_SEEDS = 50;
type Format = (typeof FORMATS)[number];

export const analyze: CliCommand = {
  name: "analyze",
  operands: ["FILE"],
  summary: "say where a dataflow needs coordination, why, and the cheapest kind",
  details:
    "FILE is an annotation file (YAML, docs/analysis.md): components with their paths, and what is known of their " +
    "streams. Or it is a program (.ts, .js): its logical nodes are the components, their messages the streams. Every stream gets a label: Seal and Async are deterministic, Run, Inst and Diverge are not. For those " +
    "it says where the trouble begins and which seal, order or acceptance would end it. The exit code is 1 if " +
    "something worse than Async is not accepted, 2 if the file cannot be understood, 70 if the analysis itself failed. With " +
    "--baseline, what was known before does not make it 1: only what is new or worse does. With --check, what components run " +
    "is really run: in any order, again, side by side, and compared with the labels. A label that is proved wrong also " +
    "makes the exit code 1; an anomaly that a label predicts is shown.",
  options: {
    format: {
      value: "text|json|dot|svg|sarif",
      help: "a report, data, a graph for Graphviz, a picture, or results for code scanning (text)",
    },
    baseline: { value: "FILE", help: "findings that are known: only new or worse ones fail" },
    "update-baseline": { help: "write the findings of now to the baseline" },
    check: { help: "run the components that can be run, and try to prove the labels wrong" },
    seeds: { value: "N", help: `with --check: how many seeds to try (${DEFAULT_SEEDS})` },
    seed: { value: "K", help: "with --check: only this seed, or the first of --seeds" },
    explain: { value: "STREAM", help: "only how the label of this stream came about" },
  },
  async run(args, terminal) {
    const options = optionsOf(args);
    try {
      return await carryOut(args, options, terminal);
    } catch (error) {
      if (error instanceof HeadwaterError && error.code !== "HW-9001") throw error;
      report(error, terminal, args.flags.has("json"));
      return BROKEN;
    }
  },
};

async function carryOut(args: Arguments, options: AnalyzeOptions, terminal: Terminal): Promise<number> {
  const { explain, seeds, baseline, update } = options;
  const file = args.operands[0] ?? "";
  const analysis = await import("../analysis/index.js");
  const program = isProgram(file) ? await readProgram(file) : null;
  if (program !== null && seeds !== null)
    throw misused(analyze, "--check is for annotation files, not for programs.");
  const dataflow =
    program?.facts.dataflow ??
    (await analysis.readDataflow(await textOf(file), { source: relative(process.cwd(), file) || file }));
  const result = analysis.analyze(dataflow);
  if (explain !== null) analysis.checkStream(explain, result);
  const findings = analysis.findingsOf(result);
  if (baseline !== null && update) await writeFile(baseline, analysis.baselineText(findings));
  const known = baseline === null ? null : analysis.readBaseline(await textOf(baseline), baseline);
  const comparison = known === null ? null : analysis.compared(findings, known);
  const checks = seeds === null ? null : await runCheck(result, file, seeds, terminal);
  terminal.out(shown(analysis, result, options, { checks, comparison, program }, args.flags.has("json")));
  if (comparison !== null) for (const line of news(comparison)) terminal.say(line);
  const failing = comparison?.fresh ?? result.open;
  return checks?.ok === false || failing.length > 0 ? 1 : 0;
}

/** A program of contexts, and how it is shown. */
interface AnalysedProgram {
  readonly facts: ProgramFacts;
  readonly text: string;
}

function isProgram(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file);
}

async function readProgram(file: string): Promise<AnalysedProgram> {
  await textOf(file);
  checkPart("reading the code of programs");
  const [{ loadProgram }, { programFacts, showProgram }] = [
    await import("./program.js"),
    await import("../dataflow/index.js"),
  ];
  const { roots } = await loadProgram(findProgram(file, process.cwd()));
  const facts = await programFacts(file, roots);
  return { facts, text: showProgram(facts) };
}

/** How the findings compare with the baseline. */
function news({ fresh, known, fixed }: BaselineComparison): string[] {
  return [
    ...fresh.map(({ stream, label }) => `new: ${stream} is ${label}`),
    ...fixed.map(({ stream, label }) => `fixed: ${stream} was ${label}; --update-baseline takes it out`),
    `baseline: ${fresh.length} new, ${known.length} known, ${fixed.length} fixed`,
  ];
}

/** What the options ask for, checked against each other. */
interface AnalyzeOptions {
  readonly format: Format;
  readonly explain: string | null;
  /** What the check draws from; `null` without `--check`. */
  readonly seeds: readonly number[] | null;
  readonly baseline: string | null;
  /** Write the findings to the baseline first. */
  readonly update: boolean;
}

function optionsOf(args: Arguments): AnalyzeOptions {
  const format = formatOf(args);
  const explain = args.values.get("explain") ?? null;
  const check = args.flags.has("check");
  const picture = format !== "text" && format !== "json";
  const baseline = args.values.get("baseline") ?? null;
  const update = args.flags.has("update-baseline");
  if (update && baseline === null) throw misused(analyze, "--update-baseline goes with --baseline FILE.");
  if (picture && (check || explain !== null)) {
    throw misused(analyze, `--${check ? "check" : "explain"} goes with text and json, not with ${format}.`);
  }
  if (check && explain !== null) throw misused(analyze, "--check and --explain exclude each other.");
  const seed = numberOf(args, "seed", 0);
  const count = numberOf(args, "seeds", 1) ?? (seed === null ? DEFAULT_SEEDS : 1);
  const seeds = Array.from({ length: count }, (_, i) => (seed ?? 1) + i);
  return { format, explain, seeds: check ? seeds : null, baseline, update };
}

function numberOf({ values, flags }: Arguments, option: string, least: number): number | null {
  const written = values.get(option);
  if (written === undefined) return null;
  if (!flags.has("check")) throw misused(analyze, `--${option} is for --check.`);
  if (/^\d{1,15}$/.test(written) && Number(written) >= least) return Number(written);
  throw misused(analyze, `--${option} is a whole number of at least ${least}, not "${written}".`);
}

function shown(
  { showAnalysis, showDerivation, toJson, toDot, toSarif, toSvg }: typeof import("../analysis/index.js"),
  analysis: Analysis,
  { format, explain }: AnalyzeOptions,
  {
    checks,
    comparison,
    program,
  }: {
    readonly checks: Checks | null;
    readonly comparison: BaselineComparison | null;
    readonly program: AnalysedProgram | null;
  },
  oneLine: boolean,
): string {
  switch (format) {
    case "text": {
      if (explain !== null) return showDerivation(explain, analysis);
      const own = program === null || program.text === "" ? [] : [program.text];
      return [showAnalysis(analysis), ...own, ...(checks === null ? [] : [checks.text])].join("\n\n");
    }
    case "json": {
      const data = toJson(analysis);
      const { inside, undeclared, unclear } = program?.facts ?? {};
      const read = program === null ? data : { ...data, program: { inside, undeclared, unclear } };
      const all = checks === null ? read : { ...read, check: checks.data };
      const asked = explain === null ? all : explained(data, explain);
      return JSON.stringify(asked, null, oneLine ? 0 : 2);
    }
    case "dot":
      return toDot(analysis);
    case "svg":
      return toSvg(analysis);
    case "sarif":
      return JSON.stringify(toSarif(analysis, packageVersion(), comparison), null, 2);
  }
}

/** One stream, with its derivation in place. */
function explained({ streams, derivations }: ReturnType<typeof toJson>, name: string) {
  const stream = streams.find((each) => each.name === name);
  return { ...stream, derivation: derivations[stream?.derivation ?? -1] ?? null };
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
    throw unreadable(analyze, file, error);
  }
}
