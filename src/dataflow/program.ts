import type { Dataflow, SourcePosition } from "../analysis/index.js";
import type { Context, ContextClass } from "../model/context.js";
import { type QueryFact, queryFactsOf } from "../model/query-facts.js";
import { inspectTree, shapeOf } from "../model/shape.js";
import { dataflowOf } from "./derive.js";
import { type ProgramClasses, requestsOf } from "./effects.js";
import { type OrderAmongKeys, ordersInside } from "./inside.js";
import { knownClasses, NodeMethods } from "./methods.js";
import { type ProgramSource, readProgramSource } from "./source.js";

/** What can be read off a context program. */
export interface ProgramFacts {
  readonly dataflow: Dataflow;
  readonly inside: readonly OrderAmongKeys[];
  /** Methods that receive messages of other logical nodes and are taken to depend on their order. */
  readonly undeclared: readonly { readonly cls: string; readonly methods: readonly string[] }[];
  /** The standing queries that contexts hold, with what the analysis says of each. */
  readonly queries: readonly { readonly cls: string; readonly queries: readonly QueryFact[] }[];
  /** Where the text does not say what is reached. */
  readonly unclear: readonly SourcePosition[];
}

type RootClass = ContextClass<Context>;

/** Reads a program: its classes as they are loaded, and the text of its files for what its methods call, start and send. */
export async function programFacts(
  file: string,
  roots: RootClass | Readonly<Record<string, RootClass>>,
): Promise<ProgramFacts> {
  const named = typeof roots === "function" ? { [roots.name]: roots } : roots;
  const source = await readProgramSource(file);
  const known = knownClasses(Object.values(named));
  const asked = askedOf(source, named, known);
  const nodes = Object.entries(named).map(
    ([name, root]) => new NodeMethods(name, root, source.classes, known, asked),
  );
  const dataflow = dataflowOf(nodes);
  return {
    dataflow,
    inside: nodes.flatMap(ordersInside),
    undeclared: undeclaredIn(nodes),
    queries: queriesIn(Object.values(named)),
    unclear: nodes.flatMap(({ every }) => every.flatMap(({ effects }) => effects.unclear)),
  };
}

/** What the program's `api` asks for; `null`, which is anything, if it has none or it cannot be followed. */
function askedOf({ api }: ProgramSource, roots: Readonly<Record<string, RootClass>>, known: ProgramClasses) {
  if (api === null) return null;
  const shapes = new Map(Object.entries(roots).map(([name, root]) => [name, shapeOf(root)]));
  const effects = api.functions.map((each) => requestsOf(each, api.file, known, shapes));
  return effects.some(({ unclear }) => unclear.length > 0) ? null : effects.flatMap(({ calls }) => calls);
}

function queriesIn(roots: readonly RootClass[]): ProgramFacts["queries"] {
  const classes = new Set(roots.flatMap((root) => inspectTree(root).map(({ cls }) => cls)));
  return [...classes].flatMap((cls) => {
    const queries = queryFactsOf(cls);
    return queries.length === 0 ? [] : [{ cls: cls.name, queries }];
  });
}

function undeclaredIn(nodes: readonly NodeMethods[]): ProgramFacts["undeclared"] {
  const found = new Map<string, Set<string>>();
  for (const sender of nodes)
    for (const { effects } of sender.every)
      for (const { shape, method } of effects.sends)
        for (const receiver of nodes) {
          const reached = receiver === sender ? null : receiver.method(shape, method);
          if (reached === null || reached.isConfluent || reached.isReadonly) continue;
          found.set(shape.name, (found.get(shape.name) ?? new Set()).add(method));
        }
  return [...found].map(([cls, methods]) => ({ cls, methods: [...methods] }));
}
