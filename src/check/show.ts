import { showAnnotation, showLabel } from "../analysis/labels.js";
import type { CheckResult, Predicted } from "./check.js";
import type { Bulk } from "./inputs.js";
import type { Act } from "./instance.js";
import type { PathSide, PathViolation } from "./paths.js";
import { canonical, showRecord } from "./records.js";
import type { DifferingSide, Evidence } from "./search.js";

/** The command that shows a finding again. */
export type Replay = (seed: number) => string;

export function showCheck(result: CheckResult, replay: Replay): string {
  const { paths, streams, predicted, uncoordinated, agreed, left } = result;
  const parts = [
    ...paths.map((each) => `${pathViolation(each)}\n  replay: ${replay(each.seed)}`),
    ...streams.map((each) => `${streamViolation(each)}\n  replay: ${replay(each.seed)}`),
    ...predicted.map((each, i) => prediction(each, isTold(each, predicted.slice(0, i)), result, replay)),
  ];
  if (agreed.length > 0) {
    const names = agreed.map(({ stream, label, seals }) => `${stream.name} ${showLabel(label, seals)}`);
    parts.push(`The same in every run and at every replica: ${names.join(", ")}.`);
  }
  for (const each of uncoordinated) {
    parts.push(
      `Without coordination, ${each.stream} would be ${each.kind} (seed ${each.seed}):\n${evidence(each)}`,
    );
  }
  for (const { component, why } of left) parts.push(`${component} was not run in the dataflow: ${why}.`);
  parts.push(verdict(result));
  return parts.join("\n\n");
}

function verdict({ seeds, runs, outputs, paths, streams, predicted, ok }: CheckResult): string {
  const work = `${count(seeds, "seed")}, ${count(runs, "run")} of the dataflow, confluent paths to ${count(outputs, "output")}`;
  if (!ok) return `${work}: ${count(paths.length + streams.length, "label")} proved wrong.`;
  const found = predicted.filter((each) => each.found !== null).length;
  const anomalies =
    predicted.length === 0
      ? "no anomaly"
      : `an anomaly on ${found} of ${count(predicted.length, "stream")} that may have one`;
  return `${work}: no label proved wrong, ${anomalies}.`;
}

function pathViolation(found: PathViolation): string {
  const { component, from, to, paths, kind, sides } = found;
  const annotations = paths.map(({ annotation, gate }) => showAnnotation(annotation, gate));
  const what = {
    order: "but the order of its input decides what comes out",
    repetition: "and is said not to mind repetition, but a record that comes again changes what comes out",
    state: "which only reads, but its input changes the state",
  }[kind];
  const position = paths[0]?.position;
  const at = position === undefined ? "" : ` at ${position.source ?? ""}:${position.line}:${position.column}`;
  const head = `${component}, ${from.join(" and ")} → ${to}${at} is ${[...new Set(annotations)].join(" and ")}, ${what}:`;
  return [head, ...sides.map((side) => `  ${acts(side.acts)}\n    gives ${outcome(side.result)}`)].join("\n");
}

function streamViolation(found: Evidence): string {
  return `${found.stream} differs more than its label says, it is ${found.kind}:\n${evidence(found)}`;
}

/** Streams that only hand on what another one shows need no second picture. */
function isTold({ stream, found }: Predicted, before: readonly Predicted[]): boolean {
  const { from, to } = stream.stream;
  const twin = before.some(
    (each) => each.found?.kind === found?.kind && canonical(each.stream.stream.from) === canonical(from),
  );
  const begins = stream.derivation?.reconciliations.some(({ gives }) => gives !== null) === true;
  return !twin && (to === null || begins);
}

function prediction(
  { stream, found }: Predicted,
  isTold: boolean,
  { runs }: CheckResult,
  replay: Replay,
): string {
  const name = stream.stream.name;
  const accepted = stream.accepted === null ? "" : " (accepted)";
  const head = `${name} is ${stream.label}${accepted}`;
  if (found === null) return `${head}, but no run of ${runs} shows it.`;
  const how =
    found.kind === stream.label
      ? `${head}, as predicted:`
      : `${head}; the worst that was found in ${count(runs, "run")} is ${found.kind}:`;
  return [how, ...(isTold ? [evidence(found)] : []), `  replay: ${replay(found.seed)}`].join("\n");
}

function evidence({ inputs, sides, stream }: Evidence): string {
  const lines = [...inputs].map(([name, records]) => `  ${name}: ${list(records.map(showBulk))}`);
  for (const side of sides) lines.push(...sideLines(side, stream));
  return lines.join("\n");
}

function sideLines({ name, instances, result }: DifferingSide, stream: string): string[] {
  const what = "state" in result ? "its state in the end" : `${stream} in the end`;
  return [
    `  ${name}`,
    ...instances.map((each) => `    ${each.name} gets ${acts(each.acts)}`),
    `    ${what}: ${outcome(result)}`,
  ];
}

function acts(all: readonly Act[]): string {
  return list(
    all.map((act) =>
      "answers" in act ? `[answers ${list(act.answers.map(showRecord))}]` : `${act.input} ${showBulk(act)}`,
    ),
  );
}

function showBulk({ record, times }: Bulk): string {
  return `${showRecord(record)}${times === 1 ? "" : ` × ${times}`}`;
}

function outcome(result: PathSide["result"]): string {
  return "state" in result ? canonical(result.state) : list(result.map(showRecord));
}

function list(words: readonly string[]): string {
  return words.length === 0 ? "nothing" : words.join(", ");
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

/** The check for programs. */
export function checkToJson(result: CheckResult, replay: Replay) {
  const found = ({ inputs, ...each }: Evidence) => ({
    ...each,
    inputs: Object.fromEntries(inputs),
    replay: replay(each.seed),
  });
  return {
    ok: result.ok,
    seeds: result.seeds,
    runs: result.runs,
    violations: [
      ...result.paths.map(({ paths, ...each }) => ({
        what: "path",
        ...each,
        annotations: paths.map(({ annotation }) => annotation),
        replay: replay(each.seed),
      })),
      ...result.streams.map((each) => ({ what: "stream", ...found(each) })),
    ],
    predicted: result.predicted.map(({ stream, found: seen }) => ({
      stream: stream.stream.name,
      label: stream.label,
      accepted: stream.accepted?.reason ?? null,
      found: seen === null ? null : found(seen),
    })),
    agreed: result.agreed.map(({ stream, label }) => ({ stream: stream.name, label })),
    uncoordinated: result.uncoordinated.map(found),
    left: result.left,
  };
}
