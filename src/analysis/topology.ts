import { HeadwaterError } from "../errors.js";
import { didYouMean } from "../suggest.js";
import { compare, pathName } from "./compare.js";
import type { Component, ComponentPath, Dataflow, Port, SourcePosition, Stream } from "./graph.js";

/**
 * An interface with the streams at it and the paths behind it, both in an order that does not depend on how the graph
 * was written down. Inputs and outputs are numbered together.
 */
export interface Interface {
  readonly id: number;
  readonly side: "input" | "output";
  readonly component: Component;
  readonly name: string;
  readonly paths: ComponentPath[];
  readonly streams: Stream[];
}

/** The graph with every name looked up. */
export interface Topology {
  readonly graph: Dataflow;
  readonly interfaces: readonly Interface[];
  component(name: string): Component | undefined;
  input(component: string, name: string): Interface | undefined;
  output(component: string, name: string): Interface | undefined;
  stream(name: string): Stream | undefined;
}

/** Refuses a graph in which names lead nowhere, with HW-5002. */
export function topologyOf(graph: Dataflow): Topology {
  const interfaces: Interface[] = [];
  const inputs = new Map<string, Map<string, Interface>>();
  const outputs = new Map<string, Map<string, Interface>>();
  const streams = new Map<string, Stream>();
  const components = new Map(graph.components.map((each) => [each.name, each]));

  const add = (component: Component, side: Interface["side"], name: string, path: ComponentPath) => {
    const sides = (side === "input" ? inputs : outputs).get(component.name);
    let found = sides?.get(name);
    if (found === undefined) {
      found = { id: interfaces.length, side, component, name, paths: [], streams: [] };
      interfaces.push(found);
      sides?.set(name, found);
    }
    found.paths.push(path);
  };

  for (const component of graph.components) {
    if (inputs.has(component.name)) {
      throw malformed(`There are two components named "${component.name}".`, component.position);
    }
    inputs.set(component.name, new Map());
    outputs.set(component.name, new Map());
    for (const path of inOrder(component.paths)) {
      add(component, "input", path.from, path);
      add(component, "output", path.to, path);
    }
  }

  const end = (stream: Stream, port: Port, side: Interface["side"]) => {
    const known = side === "input" ? inputs : outputs;
    const ofComponent = known.get(port.component);
    if (ofComponent === undefined) {
      const hint = didYouMean(port.component, known.keys());
      throw malformed(
        `The stream "${stream.name}" names the component "${port.component}", which there is not.${hint}`,
        stream.position,
      );
    }
    const found = ofComponent.get(port.interface);
    if (found !== undefined) return found.streams.push(stream);
    const hint = didYouMean(port.interface, ofComponent.keys());
    throw malformed(
      `The stream "${stream.name}" names the ${side} "${port.interface}" of ${port.component}, but no path of ` +
        `${port.component} ${side === "input" ? "begins" : "ends"} there.${hint}`,
      stream.position,
    );
  };

  for (const stream of graph.streams.toSorted((a, b) => compare(a.name, b.name))) {
    if (streams.has(stream.name)) {
      throw malformed(`There are two streams named "${stream.name}".`, stream.position);
    }
    streams.set(stream.name, stream);
    if (stream.from === null && stream.to === null) {
      throw malformed(`The stream "${stream.name}" connects nothing: say from or to.`, stream.position);
    }
    if (stream.from !== null) end(stream, stream.from, "output");
    if (stream.to !== null) end(stream, stream.to, "input");
    for (const seal of stream.seals) {
      const wrong = seal.key.length === 0 || (seal.prefix && seal.key.length > 1);
      if (!wrong) continue;
      const what = seal.prefix ? "a watermark with one attribute" : "a seal with a key";
      throw malformed(`The stream "${stream.name}" needs ${what}.`, stream.position);
    }
  }

  for (const { stream, reason, position } of graph.accepted) {
    if (!streams.has(stream)) {
      const hint = didYouMean(stream, streams.keys());
      throw malformed(`There is no stream "${stream}" to accept.${hint}`, position);
    }
    if (reason.trim() === "") throw malformed(`Accepting "${stream}" needs a written reason.`, position);
  }

  return {
    graph,
    interfaces,
    component: (name) => components.get(name),
    input: (component, name) => inputs.get(component)?.get(name),
    output: (component, name) => outputs.get(component)?.get(name),
    stream: (name) => streams.get(name),
  };
}

function inOrder(paths: readonly ComponentPath[]): readonly ComponentPath[] {
  if (paths.length < 2) return paths;
  const named = paths.map((path) => ({ path, name: pathName(path) }));
  return named.sort((a, b) => compare(a.name, b.name)).map(({ path }) => path);
}

function malformed(what: string, position: SourcePosition | undefined): HeadwaterError {
  return new HeadwaterError("HW-5002", showPosition(position) + what);
}

/** `flow.yaml:3:5: `, or nothing. */
export function showPosition(position: SourcePosition | undefined): string {
  return position === undefined ? "" : `${position.source ?? "line"}:${position.line}:${position.column}: `;
}
