import type { FunctionNode, Node } from "../source/syntax.js";
import { unknownCall } from "./calls.js";
import { hasFunction } from "./data-methods.js";
import type { Engine } from "./engine.js";
import { methodsOf } from "./implicit.js";
import { change } from "./members.js";
import { alone, type LibraryThing, type Thing, type Value } from "./things.js";

/** A call of something that a package exports, or of a method of what it made. */
export function callLibrary(engine: Engine, target: LibraryThing, args: readonly Value[], node: Node): Value {
  const { knowledge } = engine.options;
  const { library, path } = target;
  const says = (question: Parameters<typeof knowledge.says>[0]) => knowledge.says(question, library, path);
  if (says("heavy")) engine.current.heavy = true;
  if (says("varies")) engine.current.vary(node);
  if (says("makes")) {
    callbacks(engine, args, node);
    return alone(engine.library(library, `${path}()`, node, engine.loading));
  }
  if (says("changes")) {
    const object = engine.library(library, path.slice(0, path.lastIndexOf(".")), target.node, target.shared);
    change(engine, object, node, shown(target), node);
    callbacks(engine, args, node);
    return alone(object);
  }
  if (says("pure") && !args.some(hasFunction)) {
    callbacks(engine, args, node); // a template calls the functions that it is given among its values
    return alone(engine.data("fresh", node));
  }
  if (says("start")) {
    engine.fact(
      "HW-7009",
      node,
      `it calls ${shown(target)}, which waits for events`,
      "start listening elsewhere",
    );
    const object = path === "" ? "()" : path.slice(0, path.lastIndexOf("."));
    return alone(engine.library(library, object, target.node, target.shared));
  }
  if (says("post") || says("pure")) {
    engine.fact(
      "HW-7009",
      node,
      `it calls ${shown(target)}, which goes on later: input and output stay on the main loop`,
      "do the heavy work in a function of its own",
    );
    for (const value of args)
      for (const thing of value) if (thing.kind !== "function") handOver(engine, thing, node);
    return alone(engine.data("given", node));
  }
  return unknownCall(engine, node, args, shown(target));
}

/** Data that goes into a file or a socket is not changed by that. */
function handOver(engine: Engine, thing: Thing, node: Node): void {
  if (thing.kind === "library" || thing.kind === "site") return;
  engine.changed(thing, node);
}

/** Functions among the arguments, or in objects among them, may be called whenever the object is used. */
function callbacks(engine: Engine, args: readonly Value[], node: Node): void {
  for (const value of args) {
    for (const thing of engine.reachable(value)) {
      // A template may call any method of an instance that it is given.
      if (thing.kind === "site" && thing.madeBy !== null)
        for (const method of methodsOf(engine, thing.madeBy)) callBack(engine, method, alone(thing), node);
      if (thing.kind === "function") callBack(engine, thing.node, alone(engine.data("fresh", node)), node);
    }
  }
}

function callBack(engine: Engine, target: FunctionNode, self: Value, node: Node): void {
  const given: Value = alone(engine.data("given", target));
  engine.call(
    target,
    node,
    Array.from({ length: 8 }, () => given),
    self,
  );
}

function shown({ library, path }: LibraryThing): string {
  return `${library}${path}`;
}
