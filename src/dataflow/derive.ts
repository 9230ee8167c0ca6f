import type {
  AnnotationKind,
  Component,
  ComponentPath,
  Dataflow,
  Reason,
  Stream,
} from "../analysis/index.js";
import type { NodeMethods, ProgramMethod } from "./methods.js";

const REQUESTS = "requests";
const ANSWERS = "answers";
/** What a logical node has become: a stream that leaves it, so that it has a label. */
const STATE = "state";

/** One way into a logical node: requests from outside, or the messages of another logical node. */
interface Way {
  readonly name: string;
  readonly sender: string | null;
  readonly methods: ReadonlySet<ProgramMethod>;
}

/**
 * The dataflow of a context program. A component is a logical node, because there is an order inside of it and none between two of
 * them; a stream is all that one logical node sends to another, which arrives in the order of sending, or the requests from outside, which
 * come in any order. Whatever cannot be read off the program is taken for the worst: a method may change every field of its context, what it
 * changes and what it reads depends on the order, and a reference that cannot be followed leads anywhere.
 */
export function dataflowOf(nodes: readonly NodeMethods[]): Dataflow {
  const ways = new Map(nodes.map((node) => [node.name, waysInto(node, nodes)]));
  const components = nodes.map((node) => componentOf(node, ways.get(node.name) ?? [], nodes));
  const streams = nodes.flatMap(({ name, requested }) => [
    ...(requested.length === 0
      ? []
      : [
          outside(`${name}.${REQUESTS}`, null, { component: name, interface: REQUESTS }),
          outside(`${name}.${ANSWERS}`, { component: name, interface: ANSWERS }, null),
        ]),
    ...(isWritten(ways.get(name) ?? [])
      ? [outside(`${name}.${STATE}`, { component: name, interface: STATE }, null)]
      : []),
    ...messagesTo(name, ways.get(name) ?? []),
  ]);
  return { components, streams, dependencies: [], accepted: [] };
}

function outside(name: string, from: Stream["from"], to: Stream["to"]): Stream {
  return { name, from, to, seals: [] };
}

/**
 * Messages between two logical nodes arrive once, first in, first out. That is an order of all that a logical node gets only where
 * nothing else reaches it.
 */
function messagesTo(receiver: string, ways: readonly Way[]): Stream[] {
  const order = ways.length === 1 ? { ordered: [], singleWriter: true } : {};
  return ways.flatMap(({ sender }): Stream[] => {
    if (sender === null) return [];
    const from = { component: sender, interface: outputTo(receiver) };
    const to = { component: receiver, interface: inputFrom(sender) };
    return [{ name: `${sender} to ${receiver}`, from, to, seals: [], ...order }];
  });
}

function isWritten(ways: readonly Way[]): boolean {
  return ways.some(({ methods }) => [...methods].some(changes));
}

function changes({ writes, effects }: ProgramMethod): boolean {
  return writes || effects.unclear.length > 0;
}

function outputTo(receiver: string): string {
  return `to ${receiver}`;
}

function inputFrom(sender: string): string {
  return `from ${sender}`;
}

function waysInto(node: NodeMethods, nodes: readonly NodeMethods[]): Way[] {
  const { requested } = node;
  const ways: Way[] =
    requested.length === 0 ? [] : [{ name: REQUESTS, sender: null, methods: node.closure(requested) }];
  for (const sender of nodes) {
    const aimed = sender.all.flatMap((method) => sentTo(method, sender, node));
    if (sender !== node && aimed.length > 0)
      ways.push({ name: inputFrom(sender.name), sender: sender.name, methods: node.closure(aimed) });
  }
  return ways;
}

/** The methods of a logical node that a method of another one may send to. */
function sentTo(method: ProgramMethod, sender: NodeMethods, receiver: NodeMethods): readonly ProgramMethod[] {
  const reached = [...sender.closure([method])];
  if (reached.some(({ effects }) => effects.unclear.length > 0)) return receiver.all;
  return reached.flatMap(({ effects }) =>
    effects.sends.flatMap(({ shape, method: name }) => receiver.method(shape, name) ?? []),
  );
}

function componentOf(node: NodeMethods, ways: readonly Way[], nodes: readonly NodeMethods[]): Component {
  const written = new Set(node.every.filter(({ writes }) => writes).map(({ shape }) => shape));
  const others = nodes.filter((other) => other !== node);
  const outputs = [
    ...(node.requested.length === 0 ? [] : [ANSWERS]),
    ...(isWritten(ways) ? [STATE] : []),
    ...others.flatMap(({ name }) =>
      ways.some((way) => leadsTo(way, node, nodes, name)) ? [outputTo(name)] : [],
    ),
  ];
  const paths = ways.flatMap((way) =>
    outputs.flatMap((to): ComponentPath[] => {
      const { annotation, why } = annotationOf(way, written);
      const isDirect =
        to === ANSWERS
          ? way.sender === null
          : others.some(({ name }) => to === outputTo(name) && leadsTo(way, node, nodes, name));
      // What a way writes is seen by whatever reads it later.
      if (!isDirect && !annotation.endsWith("W")) return [];
      return [{ from: way.name, to, annotation, gate: "*", why }];
    }),
  );
  const isSensitive = paths.some(({ annotation }) => annotation.startsWith("O"));
  const reason = "its logical node carries out one event after the other, in the order of tickets";
  return {
    ...{ name: node.name, paths, rep: false },
    ...(isSensitive ? { coordination: { kind: "order" as const, reason } } : {}),
  };
}

function leadsTo(way: Way, node: NodeMethods, nodes: readonly NodeMethods[], receiver: string): boolean {
  const to = nodes.find(({ name }) => name === receiver);
  return to !== undefined && [...way.methods].some((method) => sentTo(method, node, to).length > 0);
}

function annotationOf(
  { methods }: Way,
  written: ReadonlySet<ProgramMethod["shape"]>,
): { readonly annotation: AnnotationKind; readonly why: readonly Reason[] } {
  const all = [...methods];
  const sensitive = all.filter(
    ({ isConfluent, writes, reads, shape, effects }) =>
      effects.unclear.length > 0 || (!isConfluent && (writes || (reads && written.has(shape)))),
  );
  const writes = all.some(changes);
  const annotation: AnnotationKind = `${sensitive.length > 0 ? "O" : "C"}${writes ? "W" : "R"}`;
  return { annotation, why: sensitive.map(reasonFor) };
}

function reasonFor({ shape, name, writes, effects }: ProgramMethod): Reason {
  const label = `${shape.name}.${name}`;
  const [place] = effects.unclear;
  if (place !== undefined)
    return { text: `${label} uses references in a way that cannot be followed`, position: place };
  return { text: `${label} ${writes ? "may change its context" : "reads what others change"}` };
}
