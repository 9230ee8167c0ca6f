import { parseSync } from "oxc-parser";
import { HeadwaterError } from "../../errors.js";
import { type Node, walk } from "../source/syntax.js";
import type { Fluxion } from "./fluxion.js";

type Values = Record<string, unknown>;

/** One message on its way (figure 2). */
interface Message {
  readonly to: string;
  readonly args: readonly unknown[];
  readonly variables: Values;
}

export interface InterpretOptions {
  /** Names that the program finds around it: `require`, `__filename`. */
  readonly globals: Values;
  /** What a message waits for; the event loop's next turn if it is left out. */
  readonly later?: (deliver: () => void) => void;
}

/**
 * The language on one event loop, as the paper describes it (section 2): messages are queued, and each is taken by the
 * fluxion that it is for, which has its context and what the message brings, and nothing else but main's constants.
 * It is the reference that compiled programs are compared with, so it is written to be checked by eye.
 */
export function interpret(
  fluxions: readonly Fluxion[],
  { globals, later = setImmediate }: InterpretOptions,
): void {
  const byName = new Map(fluxions.map((each) => [each.name, each]));
  const main = byName.get("main");
  if (main === undefined) throw new HeadwaterError("HW-7014", "there is no fluxion main to begin with");
  const queue: Message[] = [];
  const contexts = contextsOf(fluxions);
  let constants: Values = {};

  const send = (from: Fluxion) => (to: string, args: unknown[], variables: Values) => {
    const stream = from.streams.find((each) => each.to.includes(to));
    if (stream === undefined) throw new HeadwaterError("HW-7014", `${from.name} has no stream to ${to}`);
    const sent = Object.fromEntries(
      stream.message.flatMap((name) => (name in variables ? [[name, variables[name]]] : [])),
    );
    queue.push({ to, args, variables: sent });
    later(deliver);
  };

  const deliver = () => {
    const message = queue.shift();
    const fluxion = message && byName.get(message.to);
    if (message === undefined || fluxion === undefined) return;
    const memory = contexts.get(fluxion.name) ?? {};
    for (const name of fluxion.context)
      if (!(name in memory) && name in constants) memory[name] = constants[name];
    const scope = scopeOf([message.variables, memory, constants, globals]);
    const processing = evaluate(`return (${withSends(fluxion)});`, scope, send(fluxion));
    (processing as (...args: readonly unknown[]) => unknown)(...message.args);
  };

  const names = declaredIn(main.code);
  const exported = names.map((name) => `${name}: { enumerable: true, get: () => ${name} }`).join(", ");
  const code = `${withSends(main)}\n;return Object.defineProperties({}, { ${exported} });`;
  constants = evaluate(code, scopeOf([globals]), send(main)) as Values;
}

/** Fluxions of one group share the variables that both have. */
function contextsOf(fluxions: readonly Fluxion[]): Map<string, Values> {
  const shared = new Map<string, Values>();
  const contexts = new Map<string, Values>();
  for (const { name, groups, context } of fluxions) {
    const own: Values = {};
    const memory: Values = {};
    for (const variable of context) {
      const group = groups.find((each) => each === `grp_${variable}`);
      const store = group === undefined ? own : (shared.get(group) ?? {});
      if (group !== undefined) shared.set(group, store);
      Object.defineProperty(memory, variable, {
        enumerable: true,
        configurable: true,
        get: () => store[variable],
        set: (value) => {
          store[variable] = value;
        },
      });
    }
    contexts.set(name, withPresence(memory, own, shared, groups));
  }
  return contexts;
}

/** A variable is in a context once it has a value there. */
function withPresence(
  memory: Values,
  own: Values,
  shared: ReadonlyMap<string, Values>,
  groups: readonly string[],
): Values {
  return new Proxy(memory, {
    has: (_, name) =>
      name in own ||
      groups.some((group) => group === `grp_${String(name)}` && name in (shared.get(group) ?? {})),
  });
}

function scopeOf(layers: readonly Values[]): Values {
  return new Proxy({} as Values, {
    has: (_, name) => name !== "$send" && typeof name === "string" && layers.some((layer) => name in layer),
    get: (_, name) => (typeof name === "string" ? layers.find((layer) => name in layer)?.[name] : undefined),
    set: (_, name, value) => {
      const layer = layers.find((each) => String(name) in each);
      if (layer !== undefined && typeof name === "string") layer[name] = value;
      return true;
    },
  });
}

function evaluate(code: string, scope: Values, send: unknown): unknown {
  return new Function(
    "$scope",
    "$send",
    `with ($scope) { return (function () { ${code}\n}).call(undefined); }`,
  )(scope, send);
}

const PLACEHOLDER = /(>>|->)\s*([A-Za-z_$][\w$]*)/g;

/** Streams in the code become functions that send: what the message takes is read when it is sent. */
function withSends({ code, streams }: Fluxion): string {
  return code.replaceAll(PLACEHOLDER, (written, _arrow: string, to: string) => {
    const stream = streams.find((each) => each.to.includes(to));
    if (stream === undefined) return written;
    const taken = stream.message.map(
      (name) => `get ${name}() { return typeof ${name} === "undefined" ? undefined : ${name}; }`,
    );
    return `((...$args) => $send("${to}", $args, { ${taken.join(", ")} }))`;
  });
}

function declaredIn(code: string): string[] {
  const { program } = parseSync("main.js", code.replaceAll(PLACEHOLDER, "null"), {
    sourceType: "commonjs",
    astType: "ts",
  });
  const names: string[] = [];
  for (const statement of program.body) {
    if (statement.type === "FunctionDeclaration" && statement.id) names.push(statement.id.name);
    if (statement.type !== "VariableDeclaration") continue;
    for (const { id } of statement.declarations) {
      walk(id as Node, (node) => {
        if (node.type === "Identifier") names.push(node.name);
        return undefined;
      });
    }
  }
  return names;
}
