/**
 * Which coordination a component gets (section V.B): none if nothing that it does depends on order, seals if streams that
 * its streams have fit, and otherwise one order for all its inputs. A file can choose otherwise, with a reason.
 */

import { HeadwaterError } from "../errors.js";
import type { Analysis } from "./analyze.js";
import { compare } from "./compare.js";
import type { Component, Dataflow, SourcePosition, Stream } from "./graph.js";
import { grouped } from "./grouped.js";
import { isOrderSensitive, showAnnotation, showSeal } from "./labels.js";
import { type Hold, type SealedStream, type Sealing, StepsByOutput, sealingOf } from "./sealing.js";
import { showPosition, type Topology } from "./topology.js";

export type Coordination =
  | { readonly kind: "none" }
  /** Hold what comes over these streams until its partition is complete, and what meets it until then. */
  | { readonly kind: "seal"; readonly streams: readonly SealedStream[]; readonly holds: readonly Hold[] }
  /** Give all instances all inputs in the order of one logical node's tickets. */
  | { readonly kind: "order"; readonly streams: readonly string[] };

export interface Choice {
  readonly component: string;
  /** What it needs. */
  readonly coordination: Coordination;
  /** What is carried out as things are: seals that there are, and what the file has chosen. The labels are true with it. */
  readonly inForce: Coordination;
  readonly because: string;
  /** The written reason, if the file has chosen. */
  readonly override: string | null;
}

/** For every component, by name. Throws HW-5004 if one is to be coordinated in a way that it cannot be. */
export function planCoordination(analysis: Analysis): ReadonlyMap<string, Choice> {
  const { interfaces, graph } = analysis.topology;
  const outputs = grouped(
    interfaces.filter(({ side }) => side === "output"),
    ({ component }) => component.name,
  );
  const steps = new StepsByOutput(analysis);
  const components = graph.components.toSorted((a, b) => compare(a.name, b.name));
  return new Map(
    components.map((component) => {
      const sealing = sealingOf(outputs.get(component.name) ?? [], steps, analysis);
      return [component.name, choose(component, sealing, analysis)];
    }),
  );
}

/** The dataflow with the coordination that each component needs, as if the file had chosen it. */
export function coordinated(analysis: Analysis): Dataflow {
  const { graph } = analysis.topology;
  const plan = planCoordination(analysis);
  const components = graph.components.map((component) => {
    const choice = plan.get(component.name);
    if (choice?.coordination.kind !== "order") return component;
    return { ...component, coordination: { kind: "order" as const, reason: choice.because } };
  });
  return { ...graph, components };
}

const NONE: Coordination = { kind: "none" };

function choose(component: Component, sealing: Sealing, { topology }: Analysis): Choice {
  const { name, coordination: choice, paths } = component;
  const order: Coordination = {
    kind: "order",
    streams: inputsOf(component, topology).map((stream) => stream.name),
  };
  if (choice !== undefined && choice.reason.trim() === "")
    throw unreasonable(component, "needs a written reason");
  const override = choice?.reason ?? null;
  if (choice?.kind === "none" || choice?.kind === "order") {
    const coordination = choice.kind === "none" ? NONE : order;
    return { component: name, coordination, inForce: coordination, because: choice.reason, override };
  }
  const { streams, holds, unmet } = sealing;
  const sealed: Coordination = streams.length === 0 ? NONE : { kind: "seal", streams, holds };
  if (choice?.kind === "seal" && (unmet !== null || sealed.kind === "none")) {
    throw unreasonable(component, "cannot be coordinated by seals: its streams have none that fit its gates");
  }
  if (unmet === null) {
    const confluent = !paths.some(({ annotation }) => isOrderSensitive(annotation));
    const because = sealed.kind === "seal" ? reasons(streams) : confluent ? CONFLUENT : HARMLESS;
    return { component: name, coordination: sealed, inForce: sealed, because, override };
  }
  const { path, stream } = unmet;
  const annotation = showAnnotation(path.annotation, path.gate);
  const because = `${path.from} → ${path.to} is ${annotation} and ${stream} has no seal that fits`;
  return { component: name, coordination: order, inForce: sealed, because, override };
}

const CONFLUENT = "all its paths are confluent";
const HARMLESS = "its streams come in order, or what comes of it is accepted";

function reasons(streams: readonly SealedStream[]): string {
  const known = streams.map(({ name, seal }) =>
    seal === null ? `${name} is sealed, on several keys` : `${name} is sealed on ${showSeal(seal)}`,
  );
  return known.join(" and ");
}

function inputsOf(component: Component, topology: Topology): Stream[] {
  const names = [...new Set(component.paths.map(({ from }) => from))];
  const streams = names.flatMap((name) => topology.input(component.name, name)?.streams ?? []);
  return streams.sort((a, b) => compare(a.name, b.name));
}

function unreasonable({ name, coordination, position }: Component, what: string): HeadwaterError {
  const at: SourcePosition | undefined = coordination?.position ?? position;
  return new HeadwaterError("HW-5004", `${showPosition(at)}The coordination of ${name} ${what}.`);
}
