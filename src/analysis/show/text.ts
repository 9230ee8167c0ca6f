import { advise, type Fault, type SealAdvice } from "../advice.js";
import type { Analysis, LabelledStream } from "../analyze.js";
import { grouped } from "../grouped.js";
import { isAnomaly, showAnnotation, showLabel, showSeal } from "../labels.js";
import { planCoordination } from "../plan.js";
import { showDerivation } from "./proof.js";

/** With more outputs than this, derivations are shown only when asked for. */
const DERIVATIONS_MAX = 8;
const STREAMS_LISTED_MAX = 60;
const NAMES_LISTED_MAX = 8;

/** The whole report: labels, derivations of the outputs, advice, and what was accepted. */
export function showAnalysis(analysis: Analysis): string {
  const faults = advise(analysis);
  const parts = [labels(analysis)];
  if (analysis.outputs.length <= DERIVATIONS_MAX) {
    parts.push(...analysis.outputs.map(({ stream }) => showDerivation(stream.name, analysis)));
  }
  const advice = faults.filter(isWorthSaying).map(showFault);
  if (advice.length > 0) parts.push(...advice);
  parts.push(coordination(analysis));
  const accepted = acceptances(analysis);
  if (accepted !== "") parts.push(accepted);
  parts.push(verdict(analysis));
  return parts.join("\n\n");
}

function labels({ streams, topology }: Analysis): string {
  const { components } = topology.graph;
  const all = [...streams.values()];
  const shown =
    all.length <= STREAMS_LISTED_MAX
      ? all
      : all.filter(({ stream, label }) => stream.to === null || isAnomaly(label));
  const listed = shown.slice(0, STREAMS_LISTED_MAX);
  const names = Math.max(0, ...listed.map(({ stream }) => stream.name.length));
  const words = Math.max(0, ...listed.map(({ label, seals }) => showLabel(label, seals).length));
  const rows = listed.map((each) => `  ${row(each, names, words)}`);
  const hidden = all.length - rows.length;
  if (hidden > 0) rows.push(`  and ${hidden} more (--format json has all)`);
  return [`${count(components.length, "component")}, ${count(all.length, "stream")}`, ...rows].join("\n");
}

function row(
  { stream, label, seals, rep, delivery, accepted }: LabelledStream,
  names: number,
  words: number,
): string {
  const ends = `${stream.from?.component ?? "outside"} → ${stream.to?.component ?? "outside"}`;
  const extras = [
    ...(rep ? ["Rep"] : []),
    ...(delivery === "at-least-once" ? ["at least once"] : []),
    ...(accepted === null ? [] : ["accepted"]),
  ];
  return `${stream.name.padEnd(names)}  ${showLabel(label, seals).padEnd(words)}  ${[ends, ...extras].join(", ")}`;
}

/** Rule 3 only makes worse what began elsewhere. */
function isWorthSaying({ rule, streams }: Fault): boolean {
  return rule !== "3" || streams.length > 0;
}

/** One shape for all advice: because this input is X, this path needs Y; seal it, or order it, or accept it. */
export function showFault(fault: Fault): string {
  const { components, path, because, seal, deduplicate, order, accept, after, streams, rep } = fault;
  const annotation = showAnnotation(path.annotation, path.gate);
  const where = `${components.join(", ")}, ${path.from} → ${path.to} (${annotation})`;
  const at =
    path.position === undefined
      ? ""
      : ` at ${path.position.source ?? ""}:${path.position.line}:${path.position.column}`;
  const lines = [`${where}${at}: because ${because}, this path ${need(fault)}.`];
  if (after !== null) lines.push(`  first   mend ${after}: its contents already differ`);
  if (seal !== null) {
    for (const [sources, keys] of grouped(seal.keys, (each) => JSON.stringify(each.sources))) {
      lines.push(`  seal    ${sealing(seal.streams, keys, JSON.parse(sources) as string[] | null)}`);
    }
  }
  if (deduplicate.length > 0) {
    lines.push(
      `  id      give the events of ${deduplicate.join(", ")} one, by which a receiver drops what comes twice`,
    );
  }
  if (order.length > 0) {
    const still = rep ? "; replicas then agree, though another run may choose another order" : "";
    lines.push(`  order   all inputs of ${order.join(", ")} through one logical node${still}`);
  }
  if (accept !== null) lines.push(`  accept  ${accept}, with a written reason`);
  if (streams.length > 0) {
    const reached = streams.slice(0, NAMES_LISTED_MAX).map(({ name, label }) => `${name} ${label}`);
    const more = streams.length - reached.length;
    lines.push(`  It shows on ${reached.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`);
  }
  return lines.join("\n");
}

function need({ rule, path, seal }: Fault): string {
  if (rule === "d") return "needs every record once";
  if (seal !== null) return "needs a seal or an order";
  if (path.gate === "*") return "needs an order (nobody knows its gate, so no seal fits)";
  return path.gate.length === 0
    ? "needs an order (it takes all its input together, so no seal fits)"
    : "needs an order";
}

function sealing(
  streams: readonly string[],
  keys: SealAdvice["keys"],
  sources: readonly string[] | null,
): string {
  const what = keys.map(({ seal }) =>
    seal.prefix ? `with a watermark ${showSeal(seal)}` : `on ${showSeal(seal)}`,
  );
  const direct = sources === null || sources.join() === streams.join();
  const early = direct ? "" : `; it is enough to seal ${sources.join(" and ")} like that`;
  return `${streams.join(" and ")} ${what.join(" or ")}${early}`;
}

/** What the runtime would do as things are. Confluent components need no line. */
function coordination(analysis: Analysis): string {
  const { components } = analysis.topology.graph;
  const choices = [...planCoordination(analysis).values()].filter(
    ({ coordination, override }) => coordination.kind !== "none" || override !== null,
  );
  const lines = choices.slice(0, NAMES_LISTED_MAX).map(({ component, coordination, because }) => {
    const what = {
      none: "nothing",
      seal: "wait for seals",
      order: "one order for all inputs",
    }[coordination.kind];
    return `  ${component}: ${what}, because ${because}`;
  });
  const more = choices.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more`);
  if (lines.length === 0) return `Coordination: none, for ${count(components.length, "component")}.`;
  return ["Coordination, as things are:", ...lines].join("\n");
}

function acceptances({ streams }: Analysis): string {
  return [...streams.values()]
    .flatMap(({ stream, label, accepted }) =>
      accepted === null ? [] : [`${stream.name} is ${label}, accepted: ${accepted.reason}`],
    )
    .join("\n");
}

function verdict({ open, outputs }: Analysis): string {
  if (open.length > 0) {
    const names = open.slice(0, NAMES_LISTED_MAX).map(({ stream, label }) => `${stream.name} ${label}`);
    const more = open.length - names.length;
    return `Needs coordination: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
  }
  const shown = outputs.map(({ stream, label, seals }) => `${stream.name} ${showLabel(label, seals)}`);
  return `Nothing needs coordination that it does not have: ${shown.slice(0, NAMES_LISTED_MAX).join(", ")}.`;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
