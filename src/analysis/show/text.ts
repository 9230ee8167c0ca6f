import { advise, type Fault, type SealAdvice } from "../advice.js";
import type { Analysis, LabelledStream } from "../analyze.js";
import { grouped } from "../grouped.js";
import { isAnomaly, showAnnotation, showLabel, showSeal } from "../labels.js";
import { type Coordination, planCoordination } from "../plan.js";
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
  const { component, path, because, seal, deduplicate, order, accept, after, streams, gives } = fault;
  const annotation = showAnnotation(path.annotation, path.gate);
  const where = `${component}, ${path.from} → ${path.to} (${annotation})`;
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
  if (order === "helps") {
    const left = gives === "Run" ? "which another run may choose differently" : "so that replicas agree";
    lines.push(
      `  order   all inputs of ${component} through one logical node, ${left}; then say so: coordination: { kind: order, reason: … }`,
    );
  }
  if (accept !== null) lines.push(`  accept  ${accept}, with a written reason`);
  if (streams.length > 0) {
    const reached = streams.slice(0, NAMES_LISTED_MAX).map(({ name, label }) => `${name} ${label}`);
    const more = streams.length - reached.length;
    lines.push(`  It shows on ${reached.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`);
  }
  return lines.join("\n");
}

function need({ rule, path, seal, order, cycle }: Fault): string {
  if (rule === "d") return "needs every record once";
  if (order === "in force")
    return "gives another run another result, though all replicas agree: they are ordered";
  if (rule === "l") return "needs a watermark that is kept, or an order";
  if (seal !== null) return "needs a seal or an order";
  if (path.gate === "*") return "needs an order (its gate is unknown, so no seal fits)";
  if (path.gate.length === 0) return "needs an order (it takes all its input together, so no seal fits)";
  return cycle ? "needs an order (no seal holds for what comes round again)" : "needs an order";
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

/** What components need, and what they have. A component that needs nothing gets no line. */
function coordination(analysis: Analysis): string {
  const { components } = analysis.topology.graph;
  const choices = [...planCoordination(analysis).values()].filter(
    ({ coordination, override }) => coordination.kind !== "none" || override !== null,
  );
  const lines = choices
    .slice(0, NAMES_LISTED_MAX)
    .flatMap(({ component, coordination, inForce, because }) => {
      const missing = coordination.kind === "order" && inForce.kind !== "order";
      const what = {
        none: "nothing",
        seal: "waits for seals",
        order: missing ? "needs one order for all inputs" : "one order for all inputs",
      }[coordination.kind];
      const plan = inForce.kind === "seal" ? waiting(inForce) : [];
      return [`  ${component}: ${what}, because ${because}`, ...plan.map((line) => `    ${line}`)];
    });
  const more = choices.length - NAMES_LISTED_MAX;
  if (more > 0) lines.push(`  and ${more} more`);
  if (lines.length === 0) return `Coordination: none, for ${count(components.length, "component")}.`;
  return ["Coordination:", ...lines].join("\n");
}

function waiting({ streams, holds }: Extract<Coordination, { kind: "seal" }>): string[] {
  const held = streams.map(({ name, seal, with: others }) => {
    const also = others.length === 0 ? "" : `, in ${others.join(" and ")} too`;
    if (seal === null) return `${name} waits until all of it is complete${also}`;
    if (!seal.prefix) return `${name} waits until its ${seal.key.join(", ")} is complete${also}`;
    const rest = seal.late === true ? "; what comes later is late" : "";
    return `${name} waits until its watermark has passed ${seal.key.join(", ")}${also}${rest}`;
  });
  const watermarks = new Set(streams.flatMap(({ name, seal }) => (seal?.prefix === true ? [name] : [])));
  const meeting = holds.map(({ name, until, by }) => {
    if (watermarks.has(until))
      return `${name} waits until the watermark of ${until} has passed what it meets`;
    return by === null
      ? `${name} waits until all of ${until} is complete`
      : `${name} waits until the ${by.join(", ")} that it names is complete in ${until}`;
  });
  return [...held, ...meeting];
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
