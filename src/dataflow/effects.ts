import type { SourcePosition } from "../analysis/index.js";
import type { ChildSlot, Shape } from "../model/shape.js";
import {
  bare,
  type ClassSource,
  isTransparent,
  nameIn,
  type SourceFile,
  type Syntax,
  visit,
} from "./source.js";

/** A method that another one calls, starts or sends to. */
export interface ReachedMethod {
  readonly shape: Shape;
  readonly method: string;
  readonly position: SourcePosition;
}

/** What a method does besides changing the fields of its own context, as far as its text says. */
export interface MethodEffects {
  /** In the same event. */
  readonly calls: readonly ReachedMethod[];
  /** In later events of the same logical node: started, by a timer, after an outside call. */
  readonly later: readonly ReachedMethod[];
  /** On other logical nodes. */
  readonly sends: readonly ReachedMethod[];
  /** Does it send messages to clients? */
  readonly tellsClients: boolean;
  /** Where the text does not say what is reached. */
  readonly unclear: readonly SourcePosition[];
}

/** What a name or an expression stands for. */
type Meaning =
  | { readonly kind: "context"; readonly shape: Shape; readonly isSelf: boolean }
  | { readonly kind: "children"; readonly slot: ChildSlot }
  | { readonly kind: "event" };

export interface ProgramClasses {
  /** The shape of a class of the program, by its name. */
  shapeNamed(name: string): Shape | null;
  shapeOf(cls: ChildSlot["cls"]): Shape | null;
}

const LATER = new Map([
  ["start", 0],
  ["after", 1],
  ["outside", 2],
]);

/** Reads one method of a class. */
export function effectsOf(
  body: Syntax,
  shape: Shape,
  { file }: ClassSource,
  known: ProgramClasses,
): MethodEffects {
  return read(body, shape, file, known, new Map());
}

/** Reads a function of an API: its first parameter is the root, or an object of the roots. */
export function requestsOf(
  body: Syntax,
  file: SourceFile,
  known: ProgramClasses,
  roots: ReadonlyMap<string, Shape>,
): MethodEffects {
  const names = new Map<string, Meaning>();
  const [parameter] = body.params as Syntax[];
  const [only] = roots.values();
  if (parameter?.type === "Identifier" && roots.size === 1 && only !== undefined)
    names.set(String(parameter.name), { kind: "context", shape: only, isSelf: false });
  else if (parameter?.type === "ObjectPattern" && roots.size > 1)
    for (const property of parameter.properties as Syntax[]) {
      const shape = property.type === "Property" ? roots.get(nameIn(property.key as Syntax)) : undefined;
      const value = property.value as Syntax | undefined;
      if (shape !== undefined && value?.type === "Identifier")
        names.set(String(value.name), { kind: "context", shape, isSelf: false });
    }
  const effects = read(body, null, file, known, names);
  return effects.calls.length > 0 ? effects : { ...effects, unclear: [file.place(body)] };
}

function read(
  body: Syntax,
  shape: Shape | null,
  file: SourceFile,
  known: ProgramClasses,
  names: Map<string, Meaning>,
): MethodEffects {
  const [calls, later, sends, unclear]: [
    ReachedMethod[],
    ReachedMethod[],
    ReachedMethod[],
    SourcePosition[],
  ] = [[], [], [], []];
  let tellsClients = false;

  const meaning = (node: Syntax | null | undefined): Meaning | null => {
    if (node == null) return null;
    const at = bare(node);
    if (at.type === "ThisExpression") return shape === null ? null : { kind: "context", shape, isSelf: true };
    if (at.type === "Identifier") return names.get(String(at.name)) ?? null;
    if (at.type === "MemberExpression")
      return member(meaning(at.object as Syntax), nameIn(at.property as Syntax));
    return at.type === "CallExpression" ? called(at) : null;
  };
  const member = (of: Meaning | null, name: string): Meaning | null => {
    if (of?.kind !== "context") return null;
    if (of.isSelf && name === "event") return { kind: "event" };
    const slot = of.shape.slots.find(({ field }) => field === name);
    if (slot === undefined) return null;
    return slot.single ? child(slot) : { kind: "children", slot };
  };
  const child = (slot: ChildSlot): Meaning | null => {
    const below = known.shapeOf(slot.cls);
    return below === null ? null : { kind: "context", shape: below, isSelf: false };
  };
  const named = (argument: Syntax | undefined): Meaning | null => {
    const found = argument?.type === "Identifier" ? known.shapeNamed(String(argument.name)) : null;
    return found === null ? null : { kind: "context", shape: found, isSelf: false };
  };
  const called = (call: Syntax): Meaning | null => {
    const callee = bare(call.callee as Syntax);
    const own = meaning(callee);
    if (own?.kind === "children") return child(own.slot);
    if (callee.type !== "MemberExpression") return null;
    const [of, name] = [meaning(callee.object as Syntax), nameIn(callee.property as Syntax)];
    const isNaming =
      (of?.kind === "event" && (name === "peer" || name === "parent")) ||
      (of?.kind === "context" && of.isSelf && name === "above");
    return isNaming ? named((call.arguments as Syntax[])[0]) : null;
  };
  /** `this.event.start(target).method(…)` as the kind of effect and its target. */
  const effect = (node: Syntax): { readonly kind: string; readonly target: Syntax | undefined } | null => {
    const at = bare(node);
    if (at.type !== "CallExpression") return null;
    const callee = bare(at.callee as Syntax);
    if (callee.type !== "MemberExpression" || meaning(callee.object as Syntax)?.kind !== "event") return null;
    const kind = nameIn(callee.property as Syntax);
    return { kind, target: (at.arguments as Syntax[])[kind === "send" ? 0 : (LATER.get(kind) ?? 0)] };
  };
  const reach = (into: ReachedMethod[], of: Meaning | null, method: string, node: Syntax): void => {
    if (of?.kind === "context") into.push({ shape: of.shape, method, position: file.place(node) });
    else unclear.push(file.place(node));
  };

  const seeCall = (node: Syntax): void => {
    const callee = bare(node.callee as Syntax);
    if (callee.type !== "MemberExpression") return;
    const [object, name] = [callee.object as Syntax, nameIn(callee.property as Syntax)];
    const asked = effect(object);
    if (asked !== null && (asked.kind === "send" || LATER.has(asked.kind)))
      return reach(asked.kind === "send" ? sends : later, meaning(asked.target), name, node);
    const of = meaning(object);
    if (of?.kind === "context" && !(of.isSelf && ["above", "downgrade", "child", "children"].includes(name)))
      return reach(calls, of, name, node);
    if (of?.kind !== "event") return;
    const args = node.arguments as Syntax[];
    if (name === "send" && args.length > 1) tellsClients = true;
    if (name === "delete" || name === "list") {
      const seen = meaning(args[0]);
      reach(calls, seen?.kind === "children" ? child(seen.slot) : seen, name, node);
    }
    const then = LATER.has(name) ? args[LATER.get(name) ?? 0] : undefined;
    if (then?.type === "MemberExpression" && meaning(then) === null)
      reach(later, meaning(then.object as Syntax), nameIn(then.property as Syntax), node);
  };

  visit(body, (node) => {
    if (node.type !== "VariableDeclarator") return;
    const of = meaning(node.init as Syntax | null);
    const id = node.id as Syntax;
    if (of === null) return;
    if (id.type === "Identifier") names.set(String(id.name), of);
    if (id.type !== "ObjectPattern") return;
    for (const property of id.properties as Syntax[]) {
      const found = property.type === "Property" ? member(of, nameIn(property.key as Syntax)) : null;
      const value = property.value as Syntax | undefined;
      if (found !== null && value?.type === "Identifier") names.set(String(value.name), found);
    }
  });
  visit(body, (node, parent) => {
    if (node.type === "CallExpression") seeCall(node);
    const isName =
      node.type === "Identifier" && parent?.type === "MemberExpression" && parent.property === node;
    if (isName || meaning(node) === null || isTransparent(node)) return;
    if (
      node.type === "Identifier" &&
      parent?.type === "ArrowFunctionExpression" &&
      (parent.params as Syntax[]).includes(node)
    )
      return;
    if (parent === null || isFollowed(node, parent, effect)) return;
    unclear.push(file.place(node));
  });
  return { calls, later, sends, tellsClients, unclear };
}

/** Is a reference used where the analysis sees what becomes of it? */
function isFollowed(node: Syntax, parent: Syntax, effect: (node: Syntax) => unknown): boolean {
  switch (parent.type) {
    case "MemberExpression":
      return parent.object === node;
    case "CallExpression":
      return parent.callee === node || effect(parent) !== null;
    case "VariableDeclarator":
    case "Property":
      return true;
    default:
      return isTransparent(parent);
  }
}
