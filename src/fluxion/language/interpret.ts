import { HeadwaterError } from "../../errors.js";
import { Answer } from "./answer.js";
import { contextsOf, type Values } from "./contexts.js";
import type { Fluxion, FluxionStream } from "./fluxion.js";
import { boundIn, PLACEHOLDER } from "./names.js";

/** One message on its way (figure 2). */
interface Message {
  readonly to: string;
  readonly args: readonly unknown[];
  readonly variables: Values;
  /** Variables of functions upstream that are in contexts: one for each time that such a function was called. */
  readonly cells: Values;
  readonly answer: Answer;
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
 * Who sent a message gets a promise of what comes of it, as the continuation of a promise wants it.
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
  const ofMain = boundIn(main.code).top;
  let contexts = new Map<string, Values>();
  let constants: Values = {};
  const streamTo = (from: Fluxion, to: string) =>
    // A function of main that another fluxion calls is written in main, and the stream is the other's.
    [from, ...fluxions].flatMap(({ streams }) => streams).find((each) => each.to.includes(to));

  const send =
    (from: Fluxion, inherited: Values) => (to: string, args: unknown[], variables: Values, own: Values) => {
      const stream = streamTo(from, to);
      if (stream === undefined) throw new HeadwaterError("HW-7014", `${from.name} has no stream to ${to}`);
      const sent = Object.fromEntries(
        stream.message.flatMap((name) => (name in variables ? [[name, variables[name]]] : [])),
      );
      const answer = new Answer();
      queue.push({ to, args, variables: sent, cells: above(inherited, own), answer });
      later(deliver);
      return answer.now();
    };

  const deliver = () => {
    const message = queue.shift();
    const fluxion = message && byName.get(message.to);
    if (message === undefined || fluxion === undefined) return;
    const { variables, cells, args, answer } = message;
    const memory = contexts.get(fluxion.name) ?? {};
    const scope = scopeOf([variables, only(cells, fluxion.context), memory, constants, globals]);
    answer.give(() => {
      const processing = evaluate(`return (${codes.get(fluxion)});`, scope, send(fluxion, cells));
      return (processing as (...args: readonly unknown[]) => unknown)(...args);
    });
  };

  const inContexts = new Set(fluxions.flatMap(({ context }) => context));
  const isStream = (to: string) => byName.has(to);
  const lengths = new Map(
    fluxions.map(({ name, code }) => [name, name === "main" ? 0 : lengthOf(code, isStream)]),
  );
  const codes = new Map(
    fluxions.map((fluxion) => {
      const { top, all } = boundIn(fluxion.code);
      const cells = [...all].filter((name) => inContexts.has(name) && !(fluxion === main && top.has(name)));
      const taking = (to: string) => lengths.get(to) ?? 0;
      return [fluxion, withSends(fluxion, (to) => streamTo(fluxion, to), cells, taking)];
    }),
  );
  const exported = [...ofMain].map(
    (name) => `${name}: { enumerable: true, get: () => ${name}, set: ($value) => { ${name} = $value; } }`,
  );
  const code = `${codes.get(main)}\n;return Object.defineProperties({}, { ${exported.join(", ")} });`;
  constants = evaluate(code, scopeOf([globals]), send(main, {})) as Values;
  contexts = contextsOf(fluxions, constants);
}

/** Of the variables upstream, the variables that a fluxion has in its context. */
function only(cells: Values, names: readonly string[]): Values {
  const found: Values = {};
  for (const name of names) {
    if (!(name in cells)) continue;
    const set = (value: unknown) => {
      cells[name] = value;
    };
    Object.defineProperty(found, name, { get: () => cells[name], set });
  }
  return found;
}

/** What is further down hides what is above. */
function above(inherited: Values, own: Values): Values {
  return Object.create(inherited, Object.getOwnPropertyDescriptors(own)) as Values;
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

/** How many parameters a listener says that it has, which is how Express knows who handles errors. */
function lengthOf(code: string, isStream: (to: string) => boolean): number {
  const text = code.replaceAll(PLACEHOLDER, (written, _arrow: string, to: string) =>
    isStream(to) ? "null" : written,
  );
  const made: unknown = new Function(`return (${text});`)();
  return typeof made === "function" ? made.length : 0;
}

/**
 * Streams in the code become functions that send: what the message takes is read when it is sent, and variables that are
 * in a context are the same ones for all fluxions that have them.
 */
function withSends(
  { code }: Fluxion,
  streamTo: (to: string) => FluxionStream | undefined,
  cells: readonly string[],
  taking: (to: string) => number,
): string {
  return code.replaceAll(PLACEHOLDER, (written, _arrow: string, to: string) => {
    const stream = streamTo(to);
    if (stream === undefined) return written;
    const taken = stream.message.map(
      (name) => `get ${name}() { return typeof ${name} === "undefined" ? undefined : ${name}; }`,
    );
    const kept = cells.map(
      (name) => `get ${name}() { return ${name}; }, set ${name}($value) { ${name} = $value; }`,
    );
    const parameters = Array.from({ length: taking(to) }, (_, i) => `$arg${i}`);
    const sent = `"${to}", [...arguments], { ${taken.join(", ")} }, { ${kept.join(", ")} }`;
    return `(function (${parameters.join(", ")}) { return $send(${sent}); })`;
  });
}
