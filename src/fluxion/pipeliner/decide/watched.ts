import { existsSync, readFileSync, realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { Knowledge, packageOf } from "../../callees/index.js";
import { type Body, escapedFrom, isOfFile, type Thing } from "../../points-to/index.js";
import { enclosingFunction, type Node, type SourceProgram, type Variable, walk } from "../../source/index.js";
import { type LookingOptions, lookAtWhole, type WholeProgram } from "../whole/index.js";
import { decide } from "./decide.js";
import type { CallPlan, StagePlan } from "./plan.js";

/**
 * What else may run elsewhere, if a thread watches: calls of a package of which nothing is known. Such a call is a function of the package as it
 * was loaded, the calls before, and its arguments. As long as no call changes what lasts, the package in a worker is what it is on the
 * main loop. For that, all its calls must be known, and no other package may share files with it.
 */
export function watchedPlans(
  whole: WholeProgram,
  plans: readonly StagePlan[],
  options: LookingOptions,
): readonly CallPlan[] {
  if (whole.patched !== null || whole.without.size > 0) return [];
  const found: CallPlan[] = [];
  for (const name of candidates(whole)) {
    const others = [...plans, ...found];
    const trial = lookAtWhole(whole.program, new Knowledge(whole.knowledge.project, name), options);
    const own = decide(trial, new Map(), true).plans.filter((plan) => isNew(plan, others));
    if (own.length > 0 && isOnlyCalled(trial, name, own)) found.push(...own);
  }
  return found;
}

function isNew(plan: StagePlan, others: readonly StagePlan[]): plan is CallPlan {
  if (plan.kind !== "call" || plan.posts || plan.target !== null) return false;
  return others.every(({ module, node }) => {
    const isApart = plan.node.end <= node.start || node.end <= plan.node.start;
    return module !== plan.module || isApart;
  });
}

/** Packages of which nothing is known, that functions of the program use, and that share no files with others. */
function candidates({ program, knowledge }: WholeProgram): string[] {
  const folders = new Map<string, Set<string>>();
  const used = new Set<string>();
  for (const module of program.modules.values()) {
    for (const { specifier } of module.loads) {
      if (module.imports.has(specifier) || isBuiltin(specifier) || /^[./#]/.test(specifier)) continue;
      const name = packageOf(specifier);
      if (!folders.has(name)) folders.set(name, foldersOf(name, module.path));
    }
    for (const name of usedInFunctions(module)) used.add(name);
  }
  return [...folders].flatMap(([name, own]) => {
    if (knowledge.knows(name) || !used.has(name) || own.size === 0) return [];
    const isApart = [...folders].every(
      ([other, its]) => other === name || [...own].every((folder) => !its.has(folder)),
    );
    return isApart ? [name] : [];
  });
}

type Module = SourceProgram["modules"] extends ReadonlyMap<string, infer M> ? M : never;

/** What functions of a file use by a variable of the file, also if that was made of another one. */
function usedInFunctions(module: Module): Set<string> {
  const names = new Set<string>();
  const from = new Map<Variable, Set<string>>();
  const namesIn = (node: Node) => {
    const found = new Set<string>();
    for (const { node: load, specifier } of module.loads)
      if (load.start >= node.start && load.end <= node.end) found.add(packageOf(specifier));
    walk(node, (each) => {
      const variable = each.type === "Identifier" ? module.variable(each) : null;
      for (const name of variable ? (from.get(variable) ?? []) : []) found.add(name);
      return undefined;
    });
    return found;
  };
  for (const variable of module.top.variables) {
    for (const { node } of variable.defs) {
      const declaration = node as unknown as Node;
      from.set(
        variable,
        namesIn(declaration.type.startsWith("Import") ? (declaration.parent ?? declaration) : declaration),
      );
    }
    for (const { identifier } of variable.references) {
      const isInside = isOfFile(variable) && enclosingFunction(identifier as unknown as Node) !== null;
      if (isInside) for (const name of from.get(variable) ?? []) names.add(name);
    }
  }
  return names;
}

/** Where a package lies, and all that it depends on. None if it cannot be found out. */
function foldersOf(name: string, from: string, found = new Set<string>()): Set<string> {
  for (let at = dirname(from); ; at = dirname(at)) {
    const manifest = join(at, "node_modules", name, "package.json");
    if (existsSync(manifest)) {
      const folder = realpathSync(dirname(manifest));
      if (found.has(folder)) return found;
      found.add(folder);
      const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
        readFileSync(manifest, "utf8"),
      ) as Record<string, Record<string, string> | undefined>;
      for (const each of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
        foldersOf(each, join(folder, "package.json"), found);
      return found;
    }
    if (at === dirname(at)) return found;
  }
}

/** Whether all that the program does with a package is to call it in these stages, or while files are loaded. */
function isOnlyCalled(
  { engine, listeners }: WholeProgram,
  name: string,
  plans: readonly CallPlan[],
): boolean {
  const isOf = (thing: Thing) => thing.kind === "library" && packageOf(thing.library) === name;
  const escaped = [...escapedFrom(engine).keys()];
  if (escaped.some(isOf)) return false;
  const byOthers = new Set<unknown>(
    escaped.map(({ kind, ...thing }) => (kind === "function" && "node" in thing ? thing.node : null)),
  );
  const going = new Set<Node>(plans.map(({ node }) => node));
  const called = new Set<Body>();
  for (const { calls } of engine.bodies.values())
    for (const [node, targets] of calls) if (going.has(node)) for (const each of targets) called.add(each);
  const others = [...engine.bodies.keys()].filter(
    (body) =>
      !called.has(body) ||
      byOthers.has(body) ||
      (body.type !== "Program" && listeners.has(body)) ||
      isCalledElsewhere(engine, body, going),
  );
  const reached = new Set<Body>(others);
  for (const body of reached) {
    const facts = engine.bodies.get(body);
    if (facts === undefined) continue;
    for (const [node, targets] of facts.calls)
      if (!going.has(node)) for (const each of targets) reached.add(each);
    if ([...facts.watched].some((node) => !going.has(node))) return false;
    const isChanged = [...facts.changes.values()].some((things) => [...things].some(isOf));
    if (isChanged && body.type !== "Program") return false;
  }
  return true;
}

function isCalledElsewhere(
  { bodies }: WholeProgram["engine"],
  body: Body,
  going: ReadonlySet<Node>,
): boolean {
  for (const { calls } of bodies.values())
    for (const [node, targets] of calls)
      if (!going.has(node) && body.type !== "Program" && targets.has(body)) return true;
  return false;
}
