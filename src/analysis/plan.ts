/**
 * Which coordination a component gets (section V.B): none if nothing that it does depends on order, seals if those that
 * its streams have fit, and otherwise one order for all its inputs. Whoever knows better says so, with a reason.
 */

import { HeadwaterError } from "../errors.js";
import type { Analysis, LabelledStream } from "./analyze.js";
import { compare, pathName } from "./compare.js";
import { sealName } from "./dependencies.js";
import type { Component, Path, Seal, Stream } from "./graph.js";
import { isOrderSensitive, isWrite, showAnnotation, showSeal } from "./labels.js";
import type { Topology } from "./topology.js";

export type Coordination =
  | { readonly kind: "none" }
  /**
   * Hold what comes over these streams until its partition is sealed by every producer; by all of the keys, if a stream
   * is listed with several.
   */
  | { readonly kind: "seal"; readonly streams: readonly { readonly name: string; readonly seal: Seal }[] }
  /** Give all instances all inputs in the order of one logical node's tickets. */
  | { readonly kind: "order"; readonly streams: readonly string[] };

export interface Choice {
  readonly component: string;
  readonly coordination: Coordination;
  readonly because: string;
  /** The written reason, if somebody has chosen otherwise than the labels. */
  readonly override: string | null;
}

/** For every component, by name. Throws HW-5004 if one is to be coordinated in a way that it cannot be. */
export function planCoordination(analysis: Analysis): ReadonlyMap<string, Choice> {
  const components = analysis.topology.graph.components.toSorted((a, b) => compare(a.name, b.name));
  return new Map(components.map((component) => [component.name, choose(component, analysis)]));
}

function choose(component: Component, analysis: Analysis): Choice {
  const automatic = chooseByLabels(component, analysis);
  const wish = component.coordination;
  if (wish === undefined) return automatic;
  if (wish.reason.trim() === "") throw unreasonable(component, "needs a written reason");
  const { name } = component;
  const override = wish.reason;
  if (wish.kind === automatic.coordination.kind) return { ...automatic, override };
  const because = `the labels ask for ${automatic.coordination.kind}, but: ${wish.reason}`;
  if (wish.kind === "none") return { component: name, coordination: { kind: "none" }, because, override };
  if (wish.kind === "order") {
    const streams = inputsOf(component, analysis.topology).map((stream) => stream.name);
    return { component: name, coordination: { kind: "order", streams }, because, override };
  }
  throw unreasonable(component, "cannot be coordinated by seals: its streams have none that fit its gates");
}

function chooseByLabels(component: Component, analysis: Analysis): Choice {
  const { name, paths } = component;
  const sensitive = paths
    .filter(({ annotation }) => isOrderSensitive(annotation))
    .sort((a, b) => compare(pathName(a), pathName(b)));
  const inputs = inputsOf(component, analysis.topology);
  if (sensitive.length === 0 || inputs.length === 0) {
    const because = sensitive.length === 0 ? "all its paths are confluent" : "nothing comes in";
    return { component: name, coordination: { kind: "none" }, because, override: null };
  }
  const sealed = new Map<string, { name: string; seal: Seal }>();
  for (const path of sensitive) {
    for (const stream of heldFor(path, component, analysis)) {
      const seal = stream.seals.find((each) => analysis.dependencies.compatible(path.gate, each));
      if (stream.label !== "Seal" || seal === undefined) {
        return acceptedBy(component, path, analysis) ?? ordered(component, path, stream, inputs);
      }
      const { name: each } = stream.stream;
      sealed.set(JSON.stringify([each, sealName(seal)]), { name: each, seal });
    }
  }
  const streams = [...sealed].sort(([a], [b]) => compare(a, b)).map(([, each]) => each);
  const because = streams.map((each) => `${each.name} is sealed on ${showSeal(each.seal)}`).join(" and ");
  return { component: name, coordination: { kind: "seal", streams }, because, override: null };
}

function ordered(
  component: Component,
  path: Path,
  { stream }: LabelledStream,
  inputs: readonly Stream[],
): Choice {
  const annotation = showAnnotation(path.annotation, path.gate);
  const because = `${path.from} → ${path.to} is ${annotation} and ${stream.name} has no seal that fits`;
  const streams = inputs.map(({ name }) => name);
  return { component: component.name, coordination: { kind: "order", streams }, because, override: null };
}

/** Nothing is done about what somebody has accepted on every stream that it comes out on. */
function acceptedBy({ name }: Component, path: Path, { topology, streams }: Analysis): Choice | null {
  const out =
    topology.output(name, path.to)?.streams.map((stream) => streams.get(stream.name)?.accepted) ?? [];
  const [first] = out;
  if (!first || out.some((each) => !each)) return null;
  const because = `what comes of it is accepted: ${first.reason}`;
  return { component: name, coordination: { kind: "none" }, because, override: null };
}

/** The streams that must be complete before an order-sensitive path may go ahead: those that write what it reads. */
function heldFor(path: Path, component: Component, { topology, streams }: Analysis): LabelledStream[] {
  const writers = component.paths.filter(({ to, annotation }) => to === path.to && isWrite(annotation));
  const from =
    path.annotation === "OR" && writers.length > 0 ? writers.map((each) => each.from) : [path.from];
  const ports = [...new Set(from)].flatMap((each) => topology.input(component.name, each) ?? []);
  const held = ports.flatMap((port) => port.streams.flatMap(({ name }) => streams.get(name) ?? []));
  return held.sort((a, b) => compare(a.stream.name, b.stream.name));
}

function inputsOf(component: Component, topology: Topology): Stream[] {
  const names = [...new Set(component.paths.map(({ from }) => from))];
  const streams = names.flatMap((name) => topology.input(component.name, name)?.streams ?? []);
  return streams.sort((a, b) => compare(a.name, b.name));
}

function unreasonable({ name }: Component, what: string): HeadwaterError {
  return new HeadwaterError("HW-5004", `The coordination of ${name} ${what}.`);
}
