import {
  alone,
  type Body,
  type BodyFacts,
  type Engine,
  type Hazard,
  isReassigned,
  memberOf,
  nameOf,
  reachable,
  type Thing,
} from "../../points-to/index.js";
import {
  around,
  isInside,
  keyOf,
  type Node,
  requiredBy,
  type SourceModule,
  type Variable,
  walk,
} from "../../source/index.js";
import {
  changeOf,
  exportsOf,
  heldBy,
  isUnclear,
  keyOfLibrary,
  keyOfThing,
  reached,
  type WholeProgram,
} from "../whole/index.js";
import { isOfFileItself, keptState, notRepeatable } from "./anew.js";
import { builtBy, pieceAround } from "./built.js";
import { addSlice, emptySlice, type ModuleSlice } from "./module-slice.js";
import { defaultOf, memberKey } from "./used-exports.js";

/**
 * The declarations that some code needs, through all files. A worker loads them as the main thread did, so only values
 * that loading makes anew, alike, and that do not change later can be in it.
 */
export class Slicer {
  readonly slices = new Map<SourceModule, ModuleSlice>();
  readonly facts: Hazard[] = [];
  readonly #seen = new Set<unknown>();
  /** What is looked at runs while a worker loads, when nothing has been sent along yet. */
  #isLoading = false;
  /** Statements of other files that change what is in a slice: they must be in it, too. */
  readonly #abroad = new Map<
    Node,
    { readonly by: SourceModule; readonly name: string; readonly use: Node }
  >();

  constructor(
    readonly whole: WholeProgram,
    readonly engine: Engine,
    /** Whether the stage waits in between, so that it could see changes. */
    readonly waits: boolean,
    /** The code whose own variables can be set for it alone. */
    readonly root: Node,
  ) {}

  of(module: SourceModule): ModuleSlice {
    const known = this.slices.get(module);
    if (known !== undefined) return known;
    const slice = emptySlice(module);
    this.slices.set(module, slice);
    return slice;
  }

  /** Values of other files cannot be sent along by this one, and only one of them may change what another makes. */
  elsewhere(module: SourceModule, node: Node): void {
    const changing = new Set([...this.#abroad.values()].map(({ by }) => by));
    for (const [piece, { by, name, use }] of this.#abroad) {
      if (changing.size === 1 && this.slices.get(by)?.pieces.has(piece) === true) continue;
      const at = this.#at(piece);
      this.#refuse(module, use, `${name} is changed while ${by.path} is loaded (${at})`);
    }
    for (const [each] of this.slices) {
      if (!this.#reaches(each, each)) continue;
      this.#refuse(module, node, `${each.path} and another file that it needs import each other`);
      break;
    }
    for (const [other, { streamed }] of this.slices) {
      if (other === module) continue;
      for (const { name } of streamed) {
        this.#refuse(
          module,
          node,
          `it needs ${name} of another file, whose value is only known when it runs`,
        );
      }
    }
  }

  #reaches(from: SourceModule, to: SourceModule, seen = new Set<SourceModule>()): boolean {
    return [...from.imports.values()].some((path) => {
      const next = this.whole.program.modules.get(path);
      if (next === undefined || !this.slices.has(next) || seen.has(next)) return false;
      seen.add(next);
      return next === to || this.#reaches(next, to, seen);
    });
  }

  bodies(bodies: readonly BodyFacts[]): void {
    for (const { body, module, uses, names, effects } of bodies) {
      for (const [node, variable] of uses) this.#variable(module, variable, node);
      for (const name of names) this.of(module).names.add(name);
      this.#inPlace(module, body);
      if (effects.some(({ receiver }) => receiver.receiver === "console")) this.of(module).console = true;
    }
  }

  /** `require("marked")` where it is used: no variable tells that the library is set up elsewhere. */
  #inPlace(module: SourceModule, body: Body): void {
    for (const act of body.type === "Program" ? [] : module.inside(body).acts) {
      const specifier = act.type === "CallExpression" ? requiredBy(act) : null;
      if (specifier === null || module.imports.has(specifier)) continue;
      const key = keyOfLibrary(specifier.replace(/^node:/, ""));
      const changed = this.whole.changed.get(key)?.node ?? builtBy(this.whole, key)[0]?.at;
      if (changed !== undefined) this.#refuse(module, act, `${specifier} is changed (${this.#at(changed)})`);
    }
  }

  #variable(module: SourceModule, variable: Variable, use: Node): void {
    this.#exportsUsed(module, variable, use);
    if (this.#isLoading && this.slices.get(module)?.streamed.has(variable))
      this.#sentTooLate(module, variable, use);
    if (this.#seen.has(variable)) return;
    this.#seen.add(variable);
    if (this.#isState(module, variable, use)) return;
    if (module.blockFunctions.has(variable.name)) {
      this.#refuse(module, use, `${variable.name} is declared again inside of another statement`);
      return;
    }
    const declared = variable.defs.filter(({ type }) => String(type) === "Variable");
    const nodes = declared.map(({ node }) => node as unknown as Node);
    if (nodes.length > 0) this.#declarators(module, variable, nodes, use);
    for (const definition of variable.defs) {
      const node = definition.node as unknown as Node;
      if (String(definition.type) === "ImportBinding") {
        this.of(module).pieces.add(node);
        this.#initialised(module, variable, node, use);
      } else if (String(definition.type) !== "Variable") this.#declaration(module, variable, node, use);
    }
  }

  #declaration(module: SourceModule, variable: Variable, node: Node, use: Node): void {
    if (node.parent?.type !== "Program" && node.parent?.parent?.type !== "Program") {
      this.#refuse(module, use, `${variable.name} is declared inside of another statement`);
      return;
    }
    this.of(module).pieces.add(node);
    this.#range(module, node, use);
    this.#initialised(module, variable, node, use);
  }

  /** State that requests share cannot be copied, but for a primitive value that is only looked at. */
  #isState(module: SourceModule, variable: Variable, use: Node): boolean {
    const values = this.whole.engine.of(variable);
    const change = changeOf(this.whole, variable);
    const reassigned = isReassigned(variable);
    const kept = keptState(this.whole, heldBy(this.whole, variable));
    if (kept !== null) {
      this.facts.push({
        code: "HW-7002",
        node: use,
        module,
        reason: `it needs ${variable.name}, which keeps ${kept.name} from one call to the next`,
        advice: `call ${variable.name} outside of the heavy function, and pass what it gives`,
      });
      return true;
    }
    if (change === null && !reassigned) return false;
    const isInRoot =
      this.engine.moduleOf(use) === this.engine.moduleOf(this.root) && isInside(use, this.root);
    if (reassigned && values.size === 0 && !this.waits && isInRoot) {
      this.of(module).streamed.add(variable);
      return true;
    }
    const where = change === null ? "" : ` (${this.#at(change.node)})`;
    this.facts.push({
      code: "HW-7002",
      node: use,
      module,
      reason:
        change?.givenAway === true
          ? `it needs ${variable.name}, which goes where others may change it${where}`
          : `it needs ${variable.name}, which is changed while the program runs${where}`,
      advice: `pass what is needed of ${variable.name} to the heavy function as an argument`,
    });
    return true;
  }

  #at(node: Node): string {
    const { line, column } = this.engine.moduleOf(node).place(node);
    return `line ${line}:${column}`;
  }

  /** A primitive value that a worker cannot make is sent along; a constant is the same whenever that is. */
  #declarators(module: SourceModule, variable: Variable, nodes: readonly Node[], use: Node): void {
    if (this.whole.engine.of(variable).size > 0) {
      for (const node of nodes) this.#made(module, variable, node, use);
      return;
    }
    const trial = new Slicer(this.whole, this.engine, this.waits, this.root);
    for (const each of this.#seen) trial.#seen.add(each);
    for (const [of, { streamed }] of this.slices)
      for (const each of streamed) trial.of(of).streamed.add(each);
    for (const node of nodes) trial.#made(module, variable, node, use);
    if (trial.facts.length === 0) this.#absorb(trial);
    else if (this.#isLoading) this.#sentTooLate(module, variable, use);
    else this.of(module).streamed.add(variable);
  }

  #sentTooLate(module: SourceModule, { name }: Variable, use: Node): void {
    this.#refuse(module, use, `${name} is only known when the program runs, and other values are made of it`);
  }

  #absorb(other: Slicer): void {
    for (const each of other.#seen) this.#seen.add(each);
    for (const [piece, each] of other.#abroad) this.#abroad.set(piece, each);
    for (const [module, slice] of other.slices) addSlice(this.of(module), slice);
  }

  #made(module: SourceModule, variable: Variable, node: Node, use: Node): void {
    const declaration = node.parent;
    const outer = declaration?.parent;
    const isTop = outer?.type === "Program" || outer?.type === "ExportNamedDeclaration";
    const wrong = isTop ? this.#range(module, node, null) : [];
    if (!isTop || wrong.length > 0) {
      this.#refuse(
        module,
        use,
        isTop
          ? `a worker cannot make ${variable.name}: ${wrong[0]?.reason ?? ""}`
          : `${variable.name} is declared inside of another statement`,
      );
      return;
    }
    this.of(module).pieces.add(node);
    this.#initialised(module, variable, node, use);
  }

  /** Everything that a piece of a file needs when it is loaded; gives what speaks against loading it. */
  #range(module: SourceModule, piece: Node, use: Node | null): Hazard[] {
    const before = this.#isLoading;
    this.#isLoading = piece.type !== "FunctionDeclaration";
    try {
      return this.#ranged(module, piece, use);
    } finally {
      this.#isLoading = before;
    }
  }

  #ranged(module: SourceModule, piece: Node, use: Node | null): Hazard[] {
    const loading = this.engine.bodies.get(module.syntax);
    if (loading === undefined) return [];
    const called = [...loading.calls]
      .filter(([node]) => isInside(node, piece))
      .flatMap(([, targets]) => [...targets]);
    const bodies = [...new Set(called.flatMap((target) => reached(this.engine, target)))];
    const found = [
      ...[...loading.facts.values()].filter(({ node }) => isInside(node, piece)),
      ...bodies.flatMap(({ facts }) => [...facts.values()]),
      ...[loading, ...bodies].flatMap((each) => notRepeatable(each, each === loading ? piece : null)),
    ].filter(({ repeatable }) => repeatable !== true);
    const wrong = found.filter(
      ({ code, node }) => code !== "HW-7007" || use !== null || isOfFileItself(node),
    );
    if (wrong.length > 0 && use === null) return wrong;
    for (const fact of wrong) this.#refuse(module, use ?? fact.node, fact.reason);
    for (const [node, variable] of loading.uses) {
      if (isInside(node, piece)) this.#variable(module, variable, node);
    }
    walk(piece, (node) => {
      const specifier = node.type === "CallExpression" ? requiredBy(node) : null;
      if (specifier !== null) this.#required(module, node, specifier);
      if (node.type === "Identifier" && (node.name === "__dirname" || node.name === "__filename")) {
        if (module.variable(node) === null) this.of(module).names.add(node.name);
      }
      return undefined;
    });
    this.bodies(bodies);
    return [];
  }

  /** Statements of files that go on with building what a variable holds; of what a file exports, only what is used. */
  #initialised(module: SourceModule, variable: Variable, node: Node, use: Node): void {
    const held = [...this.engine.of(variable)].flatMap((thing) =>
      thing.kind === "namespace" ? [thing, ...thing.whole] : [...reachable(alone(thing))],
    );
    this.#built(module, held, node, variable.name, use);
  }

  #built(module: SourceModule, things: readonly Thing[], node: Node, name: string, use: Node): void {
    for (const key of new Set(things.map(keyOfThing))) {
      for (const { at, by } of builtBy(this.whole, key)) {
        if (by === module && isInside(at, node)) continue;
        const piece = pieceAround(at);
        if (by !== module) this.#abroad.set(piece, { by, name, use });
        else this.#repeated(module, piece, name, use);
      }
    }
  }

  #repeated(module: SourceModule, piece: Node, name: string, use: Node): void {
    if (this.of(module).pieces.has(piece)) return;
    if (piece.type !== "ExpressionStatement" && piece.type !== "VariableDeclarator") {
      this.#refuse(module, use, `${name} is built by statements that a worker cannot repeat`);
      return;
    }
    this.of(module).pieces.add(piece);
    const wrong = this.#range(module, piece, null);
    if (wrong[0] !== undefined) this.#refuse(module, use, `${name}: ${wrong[0].reason}`);
  }

  /** Which exports of an own file are used through a variable that holds them. */
  #exportsUsed(module: SourceModule, variable: Variable, use: Node): void {
    for (const { node: each } of variable.defs) {
      const made = each as unknown as Node;
      if (made.type !== "VariableDeclarator" || made.init === null) continue;
      const specifier = requiredBy(made.init);
      const target = specifier === null ? undefined : module.imports.get(specifier);
      if (target !== undefined && made.id.type === "Identifier") this.#exports(target, memberKey(use), use);
    }
    const [definition] = variable.defs;
    const node = definition?.node as unknown as Node | undefined;
    const declaration = node?.parent;
    if (declaration?.type !== "ImportDeclaration" || node === undefined) return;
    const target = module.imports.get(declaration.source.value);
    if (target === undefined) return;
    if (node.type === "ImportSpecifier") this.#exports(target, nameOf(node.imported), use);
    if (node.type === "ImportDefaultSpecifier")
      this.#exports(target, defaultOf(this.whole, target, use), use);
    if (node.type === "ImportNamespaceSpecifier") this.#exports(target, memberKey(use), use);
  }

  /** `require("./own")` inside of a piece: `const { a } = require("./own")`, `require("./own").a`. */
  #required(module: SourceModule, node: Node, specifier: string): void {
    const target = module.imports.get(specifier);
    if (target === undefined) return;
    const outer = around(node);
    if (outer?.type === "VariableDeclarator" && outer.id.type === "ObjectPattern") {
      for (const property of outer.id.properties) {
        this.#exports(target, property.type === "Property" ? keyOf(property, property.key) : null, node);
      }
    } else if (outer?.type !== "VariableDeclarator") {
      this.#exports(target, memberKey(node), node);
    }
  }

  #exports(target: string, name: string | null, use: Node): void {
    const module = this.whole.program.modules.get(target);
    if (module === undefined) return; // JSON is loaded as it is
    const table = exportsOf(module);
    const key = name !== null && table.has(name) ? name : null;
    const node = isUnclear(module, name) ? undefined : table.get(key);
    const slice = this.of(module);
    if (slice.exports.has(key)) return;
    slice.exports.add(key);
    if (node === undefined) {
      this.#refuse(
        this.engine.moduleOf(use),
        use,
        `it is not clear what ${name ?? "the file"} is in ${target}`,
      );
      return;
    }
    this.engine.enter(module.syntax);
    const variable = node.type === "Identifier" ? module.variable(node) : null;
    if (variable) {
      this.#variable(module, variable, node);
      return;
    }
    this.#range(module, node, node);
    const held = this.engine.at(module.syntax, () =>
      memberOf(this.engine, alone(this.engine.namespace(module)), key, node),
    );
    this.#built(module, [...reachable(held)], node, name ?? target, node);
  }

  #refuse(module: SourceModule, node: Node, reason: string): void {
    this.facts.push({
      code: "HW-7012",
      node,
      module,
      reason,
      advice: "make it in the file from constants and known functions, or pass it as an argument",
    });
  }
}
