import { ALL_GLOBALS, VALUES } from "../../callees/index.js";
import { listed } from "../../listed.js";
import type { Group, Part, PipelineStream } from "../../pipeline.js";
import type { Rupture } from "../../points-to/index.js";
import type { FunctionNode, Node, SourceModule, Variable } from "../../source/index.js";
import { isRepeated, type WholeProgram } from "../whole/index.js";
import { PartTexts } from "./code.js";
import { type Crossing, crossings, type Flow, isBelow, isOfProgram } from "./crossing.js";
import { globalsIn, partsByBody, type Territory, territories } from "./territory.js";

const OF_EVERY_FILE = new Set([
  "require",
  "module",
  "exports",
  "__filename",
  "__dirname",
  "console",
  "globalThis",
]);

export interface Edge {
  readonly from: Territory;
  readonly to: Territory;
  readonly rupture: Rupture;
}

export interface Assembled {
  readonly parts: readonly Part[];
  readonly streams: readonly PipelineStream[];
  readonly groups: readonly Group[];
}

/** Parts, streams and groups (section 3), as data. */
export function assemble(
  whole: WholeProgram,
  names: ReadonlyMap<FunctionNode, string>,
  moved: ReadonlySet<Node>,
): Assembled {
  const parts = territories(whole, names);
  const edges = edgesOf(whole, parts);
  const texts = new PartTexts(whole, edges);
  const flow = flowOf(parts, edges);
  const all = crossings(whole, flow, moved);
  const inOrder = new Map(all.map((each, i) => [each.variable, i]));
  const crossing: Crossed = (variables) => {
    const found = new Set<number>();
    for (const each of variables) {
      const i = inOrder.get(each);
      if (i !== undefined) found.add(i);
    }
    return [...found].sort((a, b) => a - b).flatMap((i) => all[i] ?? []);
  };
  const groups = groupsOf(parts, all);
  const inGroups = new Map<Territory, string[]>();
  for (const { name, members } of groups) for (const part of members) listed(inGroups, part).push(name);
  return {
    parts: parts.map((part) => partAsData(whole, part, texts, crossing, inGroups.get(part) ?? [])),
    streams: edges.map((edge) => ({
      kind: kindOf(edge, parts),
      from: edge.from.name,
      to: edge.to.name,
      message: messageOf(edge, crossing, flow),
      callee: edge.rupture.callee,
      place: whole.engine.moduleOf(edge.rupture.node).place(edge.rupture.node),
    })),
    groups: groups.map(({ name, members, of: { variable, lasts } }) => ({
      name,
      parts: [...members].map((part) => part.name),
      variables: [variable.name],
      replicable: !lasts,
    })),
  };
}

/**
 * Every shared variable has a group of its own, called after it. Of several with one name the others are numbered, as
 * parts are, without taking the name that another variable's group would have.
 */
function groupNames(crossing: readonly Crossing[]): Map<Crossing, string> {
  const shared = crossing.filter(({ handling }) => handling === "share");
  const plain = new Set(shared.map(({ variable }) => `grp_${variable.name}`));
  const last = new Map<string, number>();
  const names = new Map<Crossing, string>();
  for (const each of shared) {
    const name = `grp_${each.variable.name}`;
    let number = (last.get(name) ?? 0) + 1;
    while (number > 1 && plain.has(`${name}_${number}`)) number += 1;
    last.set(name, number);
    names.set(each, number === 1 ? name : `${name}_${number}`);
  }
  return names;
}

/** A continuation that main itself waits for begins a chain, as a listener does (listing 4). */
function kindOf({ from, rupture }: Edge, [main]: readonly Territory[]): PipelineStream["kind"] {
  return from === main ? "start" : rupture.kind;
}

/** The listeners that a rupture point leads to, from the part that it is in. */
function edgesOf(whole: WholeProgram, parts: readonly Territory[]): Edge[] {
  const edges: Edge[] = [];
  const ruptures = [...whole.ruptures].sort((a, b) => a.node.start - b.node.start);
  const byNode = new Map(parts.map((part) => [part.node, part]));
  const byBody = partsByBody(parts);
  for (const rupture of ruptures) {
    const callers = byBody.get(rupture.within)?.filter(({ node }) => !isBelow(node, rupture.within));
    const from = callers?.find(({ node }) => node !== null) ?? parts[0];
    for (const listener of rupture.listeners) {
      const to = byNode.get(listener);
      if (from !== undefined && to !== undefined) edges.push({ from, to, rupture });
    }
  }
  return edges;
}

function flowOf(parts: readonly Territory[], edges: readonly Edge[]): Flow {
  const leaving = new Map<Territory, Edge[]>();
  const arriving = new Map<Territory, Edge[]>();
  for (const edge of edges) {
    listed(leaving, edge.from).push(edge);
    listed(arriving, edge.to).push(edge);
  }
  const allBelow = (part: Territory): Set<Territory> => {
    const found = new Set<Territory>();
    const waiting = [part];
    for (const each of waiting) {
      for (const { to } of leaving.get(each) ?? []) {
        if (found.has(to)) continue;
        found.add(to);
        waiting.push(to);
      }
    }
    return found;
  };
  const downstream = new Map(parts.map((part) => [part, allBelow(part)]));
  const below = (part: Territory) => downstream.get(part) ?? new Set<Territory>();
  const isDownstream = (part: Territory, of: Territory) => below(of).has(part);
  const comesAgain = (part: Territory) =>
    arriving.get(part)?.some(({ rupture }) => rupture.kind === "start" || isRepeated(rupture.node)) === true;
  return {
    parts,
    byBody: partsByBody(parts),
    byNode: new Map(parts.map((part) => [part.node, part])),
    below,
    isDownstream,
    isNext: (part, to) =>
      leaving.get(to)?.some((each) => each.to === part) === true &&
      arriving.get(part)?.every(({ from }) => from === to) === true,
    areParallel: (a, b) => {
      const line = isDownstream(a, b) !== isDownstream(b, a);
      const [upper, lower] = isDownstream(b, a) ? [a, b] : [b, a];
      const within = [...parts].filter(
        (each) => each === lower || (isDownstream(each, upper) && isDownstream(lower, each)),
      );
      return !line || within.some(comesAgain);
    },
  };
}

/** Those of some variables that cross, in their order. */
type Crossed = (variables: Iterable<Variable>) => Crossing[];

/** Parts that share a variable, in their order. */
interface Sharing {
  readonly name: string;
  readonly of: Crossing;
  readonly members: ReadonlySet<Territory>;
}

function groupsOf(parts: readonly Territory[], all: readonly Crossing[]): Sharing[] {
  const order = new Map(parts.map((part, i) => [part, i]));
  const place = (part: Territory) => order.get(part) ?? 0;
  return [...groupNames(all)].map(([of, name]): Sharing => {
    const { variable, writers, readers } = of;
    const isReceiver =
      writers.some(({ name }) => name === "main") && !writers.some(({ writes }) => writes.has(variable));
    const members = isReceiver ? [...writers] : [...writers, ...readers];
    return { name, of, members: new Set(members.sort((a, b) => place(a) - place(b))) };
  });
}

function partAsData(
  whole: WholeProgram,
  part: Territory,
  texts: PartTexts,
  crossing: Crossed,
  groups: readonly string[],
): Part {
  const module = moduleOfPart(whole, part);
  const own = crossing([...part.reads.keys(), ...part.writes.keys()]);
  const context = own.filter((each) => isInContext(part, each)).map(({ variable }) => variable.name);
  const node = part.node ?? module.syntax;
  const state = own.filter((each) => each.lasts && isInContext(part, each));
  return {
    name: part.name,
    place: module.place(node),
    groups,
    context: [...new Set([...context, ...globalsOf(whole, part)])],
    variables: own.map(({ variable, handling, why }) => ({ name: variable.name, handling, why })),
    code: texts.of(part),
    stateless: state.length === 0,
    state: state.map(({ variable }) => ({ name: variable.name, written: part.writes.has(variable) })),
  };
}

function moduleOfPart(whole: WholeProgram, { node }: Territory): SourceModule {
  const entry = whole.program.modules.get(whole.program.entry);
  if (node !== null) return whole.engine.moduleOf(node);
  if (entry === undefined) throw new Error("a program without its entry");
  return entry;
}

function isInContext(part: Territory, { handling, writers, variable, home, lasts }: Crossing): boolean {
  if (handling === "stream") return lasts && writers.includes(part);
  if (handling === "scope") return writers.includes(part);
  const isReceiver = !writers.some(({ writes }) => writes.has(variable));
  if (!isReceiver) return true;
  return part.node === null && home === part;
}

/** Global names of which nothing is known are taken for state of the part (`template` in listing 2). */
function globalsOf(whole: WholeProgram, part: Territory): string[] {
  const found = [...globalsIn(whole, part)];
  return found.filter((name) => !ALL_GLOBALS.has(name) && !OF_EVERY_FILE.has(name) && !VALUES.has(name));
}

/** Variables that a part, or one further down, needs and that come from here or from above. */
function messageOf({ from, to }: Edge, crossing: Crossed, flow: Flow): string[] {
  const below = [...new Set([to, ...flow.below(to)])];
  const [main] = flow.parts;
  const sent = crossing(below.flatMap((part) => [...part.reads.keys()])).filter((each) => {
    const isReceiver =
      each.handling === "share" && !each.writers.some(({ writes }) => writes.has(each.variable));
    if (each.handling !== "stream" && !isReceiver) return false;
    const isUsed = below.some((part) => part.reads.has(each.variable) && part !== each.home);
    const entersHere = isReceiver && from === main && to === each.home;
    const above =
      entersHere || each.home === from || flow.isDownstream(from, each.home) || each.home === main;
    const written = each.lasts
      ? each.writers.some((part) => part === from || flow.isDownstream(from, part))
      : true;
    const comes = from !== main || entersHere || isReceiver || !isOfProgram(each.variable);
    return isUsed && above && written && comes;
  });
  const first = (each: Crossing) =>
    Math.min(...below.map((part) => part.reads.get(each.variable)?.start ?? Number.POSITIVE_INFINITY));
  return [...new Set(sent.sort((a, b) => first(a) - first(b)).map(({ variable }) => variable.name))];
}
