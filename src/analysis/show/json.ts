import { advise, type Fault } from "../advice.js";
import type { Analysis, LabelledStream } from "../analyze.js";
import type { Derivation } from "../derivation.js";
import type { Port, Seal } from "../graph.js";
import { showInternal } from "../labels.js";
import { planCoordination } from "../plan.js";

/**
 * The analysis for programs. Labels are words; what the paper writes as a subscript stands beside them. The streams of a
 * cycle share a derivation, so derivations stand in a list of their own: the whole is as large as the graph, not larger.
 */
export function toJson(analysis: Analysis) {
  const { streams, outputs, open } = analysis;
  const places = new Map<Derivation, number>();
  for (const { derivation } of streams.values()) {
    if (derivation !== null && !places.has(derivation)) places.set(derivation, places.size);
  }
  return {
    outputs: outputs.map(brief),
    streams: [...streams.values()].map((each) => ({
      ...brief(each),
      from: port(each.stream.from),
      to: port(each.stream.to),
      delivery: each.delivery,
      /** The place in `derivations`; `null` for a stream from outside. */
      derivation: each.derivation === null ? null : (places.get(each.derivation) ?? null),
    })),
    derivations: [...places.keys()].map(derivationJson),
    advice: advise(analysis).map(adviceJson),
    coordination: [...planCoordination(analysis).values()],
    open: open.map(({ stream }) => stream.name),
  };
}

function brief({ stream, label, seals, rep, accepted }: LabelledStream) {
  return {
    name: stream.name,
    label,
    ...(seals.length > 0 ? { seals: seals.map(sealJson) } : {}),
    rep,
    accepted: accepted === null ? null : { stream: accepted.stream, reason: accepted.reason },
  };
}

function derivationJson({ components, cycle, rep, steps, reconciliations, label }: Derivation) {
  return {
    components,
    cycle,
    rep,
    steps: steps.map(({ rule, stream, around, label, seals, component, path, adds, passes }) => ({
      rule,
      stream,
      ...(around ? { around } : {}),
      label,
      ...(seals.length > 0 ? { seals: seals.map(sealJson) } : {}),
      component,
      from: path.from,
      to: path.to,
      annotation: path.annotation,
      gate: path.gate,
      ...(path.why === undefined ? {} : { why: path.why }),
      gives: adds === null ? passes : showInternal(adds),
    })),
    reconciliations: reconciliations.map(({ component, from, protectedBy, exposedTo, gives }) => ({
      component,
      from: showInternal(from),
      protectedBy,
      exposedTo,
      gives,
    })),
    label,
  };
}

function adviceJson({ path, seal, ...fault }: Fault) {
  return {
    ...fault,
    path: {
      from: path.from,
      to: path.to,
      annotation: path.annotation,
      gate: path.gate,
      position: path.position ?? null,
    },
    inputs: fault.inputs.map(({ name, label, seals }) => ({ name, label, seals: seals.map(sealJson) })),
    seal:
      seal === null
        ? null
        : {
            streams: seal.streams,
            keys: seal.keys.map(({ seal: each, sources }) => ({ ...sealJson(each), sources })),
          },
    streams: fault.streams.map(({ name, label, accepted }) => ({
      name,
      label,
      accepted: accepted?.reason ?? null,
    })),
  };
}

function sealJson({ key, prefix, late }: Seal) {
  return { key, prefix, ...(late === true ? { late } : {}) };
}

function port(each: Port | null): string | null {
  return each === null ? null : `${each.component}.${each.interface}`;
}
