/**
 * What to do about streams that are worse than Async. A fault is a place where a rule added something: there the
 * trouble begins, and there it can be ended. Everything after it only hands it on or makes it worse.
 */

import type { Analysis, LabelledStream } from "./analyze.js";
import type { Derivation, DerivationStep, Reconciliation } from "./derivation.js";
import type { Acceptance, ComponentPath, Seal } from "./graph.js";
import { grouped } from "./grouped.js";
import { isAnomaly, type Label, showInternal, showLabel } from "./labels.js";
import type { Rule } from "./rules.js";
import { repeatersOf, sourcesOf } from "./sources.js";

/** Any one of the keys, on all of the streams. */
export interface SealAdvice {
  readonly streams: readonly string[];
  readonly keys: readonly {
    readonly seal: Seal;
    /** The streams from outside that it is enough to seal like this, if that can be told. */
    readonly sources: readonly string[] | null;
  }[];
}

export interface Fault {
  readonly component: string;
  /** It is part of a cycle. */
  readonly cycle: boolean;
  readonly path: ComponentPath;
  readonly rule: Rule;
  /** The streams that come in the wrong way. */
  readonly inputs: readonly {
    readonly name: string;
    readonly label: Label;
    readonly seals: readonly Seal[];
  }[];
  /** What the fault makes of the output of the component. */
  readonly gives: Label;
  readonly rep: boolean;
  readonly because: string;
  /** `null` if no seal could help. */
  readonly seal: SealAdvice | null;
  /** The streams to give event ids to, or to deliver once. */
  readonly deduplicate: readonly string[];
  /** One order for all inputs of the component would end it, or has ended all but different runs. */
  readonly order: "helps" | "in force" | "no help";
  /** The stream that would have to be accepted. */
  readonly accept: string | null;
  /** An input that is worse than Async itself; its fault comes first. */
  readonly after: string | null;
  /** Where it can be seen. */
  readonly streams: readonly {
    readonly name: string;
    readonly label: Label;
    readonly accepted: Acceptance | null;
  }[];
}

export function advise(analysis: Analysis): Fault[] {
  const found = new Map<Derivation, Fault[]>();
  const reached = new Map<Fault, LabelledStream[]>();
  const faultsIn = (derivation: Derivation) => {
    let faults = found.get(derivation);
    if (faults === undefined) {
      faults = faultsOf(derivation, analysis);
      found.set(derivation, faults);
      for (const fault of faults) reached.set(fault, []);
    }
    return faults;
  };
  const roots = new Map<Derivation, Fault | null>();
  for (const labelled of analysis.streams.values()) {
    if (!isAnomaly(labelled.label) || labelled.derivation === null) continue;
    const root = rootOf(labelled.derivation, analysis, faultsIn, roots);
    if (root !== null) reached.get(root)?.push(labelled);
  }
  return [...reached].map(([fault, streams]) => ({
    ...fault,
    accept: fault.accept ?? streams[0]?.stream.name ?? null,
    streams: streams.map(({ stream, label, accepted }) => ({ name: stream.name, label, accepted })),
  }));
}

/** The fault that a derivation goes back to: its own if its inputs are in order, or else that of its worst input. */
function rootOf(
  from: Derivation,
  { streams }: Analysis,
  faultsIn: (derivation: Derivation) => readonly Fault[],
  roots: Map<Derivation, Fault | null>,
): Fault | null {
  const way: Derivation[] = [];
  let root: Fault | null | undefined;
  for (let here: Derivation | null = from; root === undefined; ) {
    const known: Fault | null | undefined = here === null ? null : roots.get(here);
    if (here === null || known !== undefined) {
      root = known ?? null;
      break;
    }
    way.push(here);
    const faults: readonly Fault[] = faultsIn(here);
    root = faults.find(({ after }) => after === null) ?? undefined;
    if (root !== undefined) break;
    const worst = worstInput(here);
    here = worst === null ? null : (streams.get(worst)?.derivation ?? null);
  }
  for (const each of way) roots.set(each, root ?? null);
  return root ?? null;
}

function worstInput({ steps }: Derivation): string | null {
  const anomalies = steps.filter(({ around, label }) => !around && isAnomaly(label));
  const order: readonly Label[] = ["Diverge", "Inst", "Run"];
  for (const label of order) {
    const found = anomalies.find((step) => step.label === label);
    if (found !== undefined) return found.stream;
  }
  return null;
}

function faultsOf(derivation: Derivation, analysis: Analysis): Fault[] {
  const returning = new Set(derivation.steps.flatMap(({ around, stream }) => (around ? [stream] : [])));
  const adding = grouped(
    derivation.steps.filter(({ adds }) => adds !== null),
    ({ component, adds }) => JSON.stringify([component, adds === null ? "" : showInternal(adds)]),
  );
  return derivation.reconciliations.flatMap((reconciliation) => {
    const { component, from, gives } = reconciliation;
    if (gives === null) return [];
    const steps = adding.get(JSON.stringify([component, showInternal(from)])) ?? [];
    const alike = grouped(steps, ({ rule, path }) =>
      JSON.stringify([rule, path.from, path.annotation, path.gate]),
    );
    return [...alike.values()].flatMap((group) =>
      faultOf(group, derivation, returning, reconciliation, analysis),
    );
  });
}

function faultOf(
  group: readonly DerivationStep[],
  derivation: Derivation,
  returning: ReadonlySet<string>,
  { component, exposedTo, gives }: Reconciliation,
  analysis: Analysis,
): Fault[] {
  const [first] = group;
  if (first === undefined || gives === null) return [];
  const { rule, path } = first;
  const names = first.adds?.kind === "NDRead" && exposedTo.length > 0 ? exposedTo : streamsOf(group);
  const inputs = names.map((name) => {
    const known = analysis.streams.get(name);
    return { name, label: known?.label ?? "Async", seals: known?.seals ?? [] };
  });
  // What comes back in a cycle has the label of the cycle; only what enters can have been bad before.
  const bad = inputs.find(({ name, label }) => isAnomaly(label) && !returning.has(name));
  const repeated = rule === "d";
  // What a cycle feeds back to itself carries no seals, so none can protect a path that meets it.
  const circular = names.filter((name) => analysis.streams.get(name)?.circular === true);
  const hopeless = circular.length > 0 || names.some((name) => analysis.streams.get(name)?.around === true);
  const choice = analysis.topology.component(component)?.coordination?.kind;
  const keys =
    repeated || hopeless || rule === "3" || choice === "order" || choice === "none"
      ? []
      : analysis.dependencies.keysFor(path.gate);
  const output = analysis.topology.output(component, path.to);
  return [
    {
      component,
      cycle: derivation.cycle,
      path,
      rule,
      inputs,
      gives,
      rep: derivation.rep,
      because: because(rule, inputs) + inCircle(circular),
      seal:
        keys.length === 0 || bad !== undefined
          ? null
          : {
              streams: names,
              keys: keys.map((seal) => ({ seal, sources: sourcesOf(names, seal, analysis) })),
            },
      deduplicate: repeated ? repeatersOf(names, analysis) : [],
      order: choice === "order" ? "in force" : repeated || rule === "3" ? "no help" : "helps",
      accept: output?.streams.map(({ name }) => name).toSorted()[0] ?? null,
      after: bad?.name ?? null,
      streams: [],
    },
  ];
}

function streamsOf(steps: readonly DerivationStep[]): string[] {
  return [...new Set(steps.map(({ stream }) => stream))];
}

function inCircle(names: readonly string[]): string {
  const which = names.join(" and ");
  return names.length === 0 ? "" : `, and no seal of ${which} can be waited for by what it is made from`;
}

function because(rule: Rule, inputs: Fault["inputs"]): string {
  const names = inputs.map(({ name }) => name).join(" and ");
  const all = inputs.map(({ name, label, seals }) => `${name} is ${showLabel(label, seals)}`).join(" and ");
  switch (rule) {
    case "1":
      return `${all}, what is read depends on what has arrived`;
    case "2":
    case "4":
      return `${all}, what is written depends on the order of arrival`;
    case "3":
      return `${all}, replicas write different things and keep them`;
    case "l":
      return `${names} may bring records after its watermark, the outcome depends on which do`;
    case "d":
      return `${names} may repeat records, the outcome depends on how often`;
    case "p":
    case "o":
      return all;
  }
}
