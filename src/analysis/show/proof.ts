/**
 * Derivations in the paper's notation (section V.A.4): premises above a line, the rule beside it, the conclusion
 * below, and a line with the component's name where its labels are merged.
 */

import { HeadwaterError } from "../../errors.js";
import { didYouMean } from "../../suggest.js";
import type { Analysis } from "../analyze.js";
import type { Derivation, DerivationStep, Reconciliation } from "../derivation.js";
import { showAnnotation, showInternal, showLabel } from "../labels.js";

/** Lines of text, and where the last one of them, the conclusion, begins and ends. */
interface Block {
  readonly lines: readonly string[];
  readonly start: number;
  readonly end: number;
}

const WIDTH_MAX = 118;
const STREAMS_MAX = 40;
const GAP = 3;
const NAMES_SHOWN_MAX = 20;
const STEPS_DRAWN_MAX = 200;
const STEPS_LISTED_MAX = 200;

/** How the label of a stream came about; drawn like a proof where that fits on a screen, as a list where not. */
export function showDerivation(name: string, analysis: Analysis): string {
  checkStream(name, analysis);
  const order = derivationOrder(name, analysis);
  const steps = order.reduce((sum, each) => sum + stepsOf(each, analysis).length, 0);
  if (order.length <= STREAMS_MAX && steps <= STEPS_DRAWN_MAX) {
    const proof = proofOf(name, analysis, new Set());
    const lines = proof.lines.map((line) => line.trimEnd());
    if (lines.every(({ length }) => length <= WIDTH_MAX))
      return [...lines, ...notes(order, analysis)].join("\n");
  }
  const told = new Set<Derivation>();
  return order.flatMap((each) => listed(each, analysis, told)).join("\n");
}

function stepsOf(name: string, { streams }: Analysis): readonly DerivationStep[] {
  return streams.get(name)?.derivation?.steps ?? [];
}

/** Refuses a name that no stream has, with HW-5003. */
export function checkStream(name: string, { streams }: Analysis): void {
  if (streams.has(name)) return;
  const names = [...streams.keys()];
  const hint = didYouMean(name, names) || ` There are: ${names.slice(0, NAMES_SHOWN_MAX).join(", ")}.`;
  throw new HeadwaterError("HW-5003", `There is no stream "${name}".${hint}`);
}

/** The streams that a stream's label depends on and itself, each after its own dependencies. */
function derivationOrder(name: string, analysis: Analysis): string[] {
  const order = new Set<string>();
  const work = [{ name, entered: false }];
  const seen = new Set<string>();
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.entered) {
      order.add(next.name);
      continue;
    }
    if (seen.has(next.name)) continue;
    seen.add(next.name);
    work.push({ name: next.name, entered: true });
    const inputs = stepsOf(next.name, analysis).filter(({ around }) => !around);
    for (const { stream } of inputs.toReversed()) work.push({ name: stream, entered: false });
  }
  return [...order];
}

function proofOf(name: string, analysis: Analysis, drawn: Set<string>): Block {
  const labelled = analysis.streams.get(name);
  if (labelled === undefined) return line(name);
  const conclusion = `${name}: ${showLabel(labelled.label, labelled.seals)}`;
  const { derivation } = labelled;
  if (derivation === null) return line(conclusion);
  if (drawn.has(name)) return line(`${conclusion} (as before)`);
  drawn.add(name);
  const steps = derivation.steps.map((step) => stepBlock(step, analysis, drawn));
  const premises = sideBySide([...steps, ...(derivation.rep ? [line("Rep")] : [])]);
  return under(premises, componentName(derivation), conclusion);
}

function stepBlock(step: DerivationStep, analysis: Analysis, drawn: Set<string>): Block {
  const { stream, around, label, seals, path, rule, adds, passes, passesSeals } = step;
  const input = around
    ? line(`${stream}, around: ${showLabel(label, seals)}`)
    : proofOf(stream, analysis, drawn);
  const premises = sideBySide([input, line(showAnnotation(path.annotation, path.gate))]);
  const conclusion = adds === null ? showLabel(passes, passesSeals) : showInternal(adds);
  return under(premises, `(${rule})`, conclusion);
}

function line(text: string): Block {
  return { lines: [text], start: 0, end: text.length };
}

/** A line under the premises, with a name to its left, and the conclusion centred under it. */
function under(premises: Block, name: string, conclusion: string): Block {
  const width = Math.max(premises.end - premises.start, conclusion.length);
  const shift = Math.max(0, name.length + 1 - premises.start);
  const left = premises.start + shift;
  const start = left + Math.floor((width - conclusion.length) / 2);
  return {
    lines: [
      ...premises.lines.map((each) => " ".repeat(shift) + each),
      `${`${name} `.padStart(left)}${"─".repeat(width)}`,
      " ".repeat(start) + conclusion,
    ],
    start,
    end: start + conclusion.length,
  };
}

/** As near to each other as their lines allow, last lines level, because that is where conclusions stand. */
function sideBySide([first, ...rest]: readonly Block[]): Block {
  if (first === undefined) return line("");
  return rest.reduce((left, right) => {
    const height = Math.max(left.lines.length, right.lines.length);
    const row = (block: Block, i: number) => block.lines[i - (height - block.lines.length)] ?? "";
    let offset = 0;
    for (let i = 0; i < height; i++) {
      const [before, after] = [row(left, i).trimEnd(), row(right, i)];
      const blank = after.length - after.trimStart().length;
      if (before !== "" && after !== "") offset = Math.max(offset, before.length + GAP - blank);
    }
    const lines = Array.from({ length: height }, (_, i) => {
      const after = row(right, i);
      return after.trim() === ""
        ? row(left, i)
        : row(left, i).trimEnd().padEnd(offset) + joinAt(row(left, i), after, offset);
    });
    return { lines, start: left.start, end: offset + right.end };
  }, first);
}

/** What of the right-hand line is still to be written: its blanks may lie over the left-hand one. */
function joinAt(left: string, right: string, offset: number): string {
  return right.slice(Math.max(0, left.trimEnd().length - offset));
}

/** What the notation leaves out: why a read was protected or not. */
function notes(order: readonly string[], { streams }: Analysis): string[] {
  const derivations = new Set(order.flatMap((name) => streams.get(name)?.derivation ?? []));
  return [...derivations].flatMap((derivation) =>
    derivation.reconciliations.map((each) => showReconciliation(each, derivation)),
  );
}

function listed(name: string, { streams }: Analysis, told: Set<Derivation>): string[] {
  const labelled = streams.get(name);
  if (labelled === undefined) return [];
  const { label, seals, derivation } = labelled;
  const title = `${name}: ${showLabel(label, seals)}`;
  if (derivation === null) return [`${title}, from outside`];
  const from = `${title}, from ${componentName(derivation)}`;
  if (told.has(derivation)) return [`${from} (as before)`];
  told.add(derivation);
  const steps = derivation.steps.map((step) => {
    const gives = step.adds === null ? showLabel(step.passes, step.passesSeals) : showInternal(step.adds);
    const input = `${step.stream}${step.around ? ", around" : ""}: ${showLabel(step.label, step.seals)}`;
    return `(${step.rule}) ${input}, ${showAnnotation(step.path.annotation, step.path.gate)} gives ${gives}`;
  });
  const rest = derivation.reconciliations.map((each) => showReconciliation(each, derivation));
  return [from, ...atMost(steps), ...atMost(rest)];
}

function atMost(lines: readonly string[]): string[] {
  const shown = lines.slice(0, STEPS_LISTED_MAX).map((each) => `  ${each}`);
  return lines.length > shown.length ? [...shown, `  and ${lines.length - shown.length} more`] : shown;
}

function componentName({ components, cycle }: Derivation): string {
  if (!cycle || components.length < 2) return components.join(", ");
  const shown = components.slice(0, NAMES_SHOWN_MAX).join(", ");
  const more = components.length - NAMES_SHOWN_MAX;
  return `cycle of ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

function showReconciliation(
  { component, from, protectedBy, exposedTo, gives }: Reconciliation,
  { rep }: Derivation,
): string {
  const name = `${component}: ${showInternal(from)}`;
  if (protectedBy !== null)
    return `${name} is protected, because the seals of ${protectedBy.join(", ")} fit.`;
  const why = exposedTo.length === 0 ? "" : ` is not protected from ${exposedTo.join(", ")} and`;
  return `${name}${why} becomes ${gives}, because ${replicaReason(rep, gives)}.`;
}

function replicaReason(rep: boolean, gives: Reconciliation["gives"]): string {
  if (!rep) return "it is not replicated";
  return gives === "Run" ? "its replicas get one order" : "it is replicated (Rep)";
}
