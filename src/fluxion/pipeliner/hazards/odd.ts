import {
  REQUEST_QUESTIONS,
  RESPONSE_CHAINING,
  RESPONSE_ENDING,
  RESPONSE_QUESTIONS,
} from "../../callees/index.js";
import { type Body, type BodyFacts, evaluate, type Hazard, type Thing } from "../../points-to/index.js";
import { type CallExpression, enclosingFunction, keyOf, type Node, plain } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

type Kind = "request" | "response";
const KINDS: readonly Kind[] = ["request", "response"];

/** Where a program makes requests or responses other than they come: getters, other prototypes, own methods. */
type Odd = ReadonlyMap<Kind, Node>;

const DEFINING = /^(defineProperty|defineProperties|setPrototypeOf|__defineGetter__|__defineSetter__)$/;
const SERVERS = /^(express4?|https?|http2)$/;
const CLASSES: Readonly<Record<Kind, RegExp>> = {
  request: /\.(request|IncomingMessage|Http2ServerRequest)\b/,
  response: /\.(response|ServerResponse|OutgoingMessage|Http2ServerResponse)\b/,
};
const NAMES = new Set([
  ..."IncomingMessage Http2ServerRequest ServerResponse OutgoingMessage Http2ServerResponse".split(" "),
]);
const METHODS: Readonly<Record<Kind, readonly string[]>> = {
  request: ["__proto__", ...REQUEST_QUESTIONS],
  response: ["__proto__", ...RESPONSE_CHAINING, ...RESPONSE_ENDING, ...RESPONSE_QUESTIONS],
};

/**
 * What is read of a request is read once and sent along, and what is done to a response is done later. That is the same only
 * if reading and doing have no effects of their own.
 */
export function oddFacts(
  whole: WholeProgram,
  bodies: readonly BodyFacts[],
  isMeant: (node: Node, body: Body) => boolean = () => true,
): Hazard[] {
  const odd = oddIn(whole);
  if (odd.size === 0) return [];
  return bodies.flatMap(({ body, module, reads, effects }) =>
    [...reads, ...effects].flatMap(({ receiver, node }): Hazard[] => {
      const where = odd.get(receiver.receiver as Kind);
      if (where === undefined || !isMeant(node, body)) return [];
      const { line, column } = whole.engine.moduleOf(where).place(where);
      return [
        {
          code: "HW-7008",
          node,
          module,
          reason: `it uses a ${receiver.receiver} to which the program gives getters or methods of its own (line ${line}:${column})`,
          advice: "give the values to a function that does the heavy work, and answer elsewhere",
        },
      ];
    }),
  );
}

const KNOWN = new WeakMap<WholeProgram, Odd>();

function oddIn(whole: WholeProgram): Odd {
  const known = KNOWN.get(whole);
  if (known !== undefined) return known;
  const found = new Map<Kind, Node>();
  KNOWN.set(whole, found);
  const note = (kind: Kind, node: Node) => {
    if (!found.has(kind)) found.set(kind, node);
  };
  for (const facts of whole.engine.bodies.values()) {
    for (const [node, things] of facts.changes) {
      for (const thing of things) for (const kind of KINDS) if (isClassOf(kind, thing)) note(kind, node);
    }
    for (const act of facts.module.inside(facts.body).acts) {
      if (act.type === "CallExpression") defined(whole, facts.body, act, note);
      else patched(whole, facts.body, act, note);
    }
    for (const name of facts.module.inside(facts.body).names) derived(name, note);
  }
  return found;
}

function isClassOf(kind: Kind, thing: Thing): boolean {
  return thing.kind === "library" && SERVERS.test(thing.library) && CLASSES[kind].test(thing.path);
}

type Note = (kind: Kind, node: Node) => void;

/** `Object.defineProperty(req, …)`, `req.__defineGetter__(…)`, also of what all requests have from above. */
function defined(whole: WholeProgram, body: Body, act: CallExpression, note: Note): void {
  const callee = plain(act.callee);
  const key = callee.type === "MemberExpression" ? keyOf(callee, callee.property) : null;
  if (callee.type !== "MemberExpression" || key === null) return;
  const target = key.startsWith("__") ? callee.object : act.arguments[0];
  if (target === undefined || !(DEFINING.test(key) || key === "assign")) return;
  for (const thing of whole.engine.at(body, () => evaluate(whole.engine, target))) {
    for (const kind of KINDS) {
      const isOne = thing.kind === "receiver" && thing.receiver === kind;
      const mayBe = thing.kind === "data" && thing.owner === "unknown" && isInHandler(whole, act);
      if (isClassOf(kind, thing) || ((isOne || mayBe) && key !== "assign")) note(kind, act);
      else if (isOne && givesMethods(whole, body, act)) note(kind, act);
    }
  }
}

/** `Object.assign(res, { json() {…} })` */
function givesMethods(whole: WholeProgram, body: Body, act: CallExpression): boolean {
  return act.arguments
    .slice(1)
    .some((each) =>
      [...whole.engine.at(body, () => evaluate(whole.engine, each))].some(
        (thing) =>
          thing.kind !== "site" ||
          [...thing.fields.values(), thing.rest].some((value) =>
            [...value].some(({ kind }) => kind === "function"),
          ),
      ),
    );
}

function isInHandler(whole: WholeProgram, node: Node): boolean {
  for (let outer = enclosingFunction(node); outer !== null; outer = enclosingFunction(outer)) {
    const ruptures = whole.listeners.get(outer)?.ruptures ?? [];
    if (ruptures.some(({ door }) => door === "express" || door === "http")) return true;
  }
  return false;
}

/** `res.json = function (body) {…}` */
function patched(
  whole: WholeProgram,
  body: Body,
  act: Node & { type: "AssignmentExpression" },
  note: Note,
): void {
  const left = plain(act.left);
  const key = left.type === "MemberExpression" ? keyOf(left, left.property) : null;
  if (left.type !== "MemberExpression" || key === null) return;
  for (const kind of KINDS) {
    if (!METHODS[kind].includes(key)) continue;
    const object = whole.engine.at(body, () => evaluate(whole.engine, left.object));
    if ([...object].some((thing) => thing.kind === "receiver" && thing.receiver === kind)) note(kind, act);
  }
}

/** `class Own extends http.IncomingMessage`, `createServer({ ServerResponse: Own })` */
function derived(name: Node & { type: "Identifier" }, note: Note): void {
  if (!NAMES.has(name.name)) return;
  for (const kind of KINDS) {
    if (!CLASSES[kind].test(`.${name.name}`)) continue;
    let outer: Node | undefined | null = name.parent;
    if (outer?.type === "MemberExpression") outer = outer.parent;
    const isAbove = outer?.type === "ClassDeclaration" || outer?.type === "ClassExpression";
    const isGiven =
      outer?.type === "Property" && outer.key === name && outer.parent?.type === "ObjectExpression";
    if (isAbove || isGiven) note(kind, name);
  }
}
