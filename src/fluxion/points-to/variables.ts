import { ALL_GLOBALS, ANY_ZONE, VALUES } from "../callees/index.js";
import {
  enclosingFunction,
  type FunctionNode,
  isFunction,
  keyOf,
  type Node,
  type Variable,
} from "../source/index.js";
import type { Engine } from "./engine.js";
import { alone, NONE, union, type ValueSet } from "./things.js";

export function isOfFile(variable: Variable): boolean {
  const block = variable.scope.variableScope.block as unknown as Node;
  return !isFunction(block);
}

/** Written again after its declaration. */
export function isReassigned(variable: Variable): boolean {
  return variable.references.some((each) => each.isWrite() && each.init !== true);
}

export function read(engine: Engine, node: Node & { type: "Identifier"; name: string }): ValueSet {
  const { current } = engine;
  const { module } = current;
  const variable = module.variable(node);
  if (variable === undefined) return NONE;
  if (variable === null || variable.defs.length === 0) {
    return variable?.name === "arguments" ? argumentsOf(engine, node) : globalNamed(engine, node);
  }
  if (isOfFile(variable)) {
    engine.enter(module.syntax);
    current.use(node, variable);
    return engine.of(variable);
  }
  const role = engine.options.roles.get(variable);
  if (!engine.captured(variable)) {
    return role === undefined ? engine.of(variable) : alone(engine.receiver(role, variable));
  }
  current.capture(node, variable);
  if (role !== undefined) return alone(engine.receiver(role, variable));
  if (definesFunction(variable)) {
    engine.fact(
      "HW-7006",
      node,
      `it uses the function ${variable.name}, which belongs to the function around it and cannot be sent`,
      `declare ${variable.name} in the file, outside of functions`,
    );
  }
  return alone(engine.data("input", variable.identifiers[0] as unknown as Node));
}

export function write(
  engine: Engine,
  node: Node & { type: "Identifier"; name: string },
  value: ValueSet,
): void {
  const variable = engine.module.variable(node);
  if (variable === undefined || variable === null) {
    if (node.name !== "module" && node.name !== "exports") {
      engine.fact(
        "HW-7002",
        node,
        `it writes the global variable ${node.name}`,
        `pass ${node.name} on as a value`,
      );
    }
    engine.escape(value, node);
    return;
  }
  const { current } = engine;
  if (isOfFile(variable)) {
    if (!engine.loading) {
      current.use(node, variable);
      engine.fact(
        "HW-7002",
        node,
        `it writes ${variable.name}, a variable of the file that every request shares`,
        `write ${variable.name} in a part of its own, before or after the heavy work`,
      );
    }
  } else if (engine.captured(variable)) {
    current.capture(node, variable);
    engine.fact(
      "HW-7003",
      node,
      `it writes ${variable.name}, which belongs to the function around it`,
      `return the value instead of writing ${variable.name} from here`,
    );
  }
  engine.assign(variable, value);
}

function definesFunction(variable: Variable): boolean {
  return variable.defs.some(({ node, type }) => {
    if (String(type) === "FunctionName" || String(type) === "ClassName") return true;
    const declared = node as unknown as Node;
    return declared.type === "VariableDeclarator" && isFunction(declared.init);
  });
}

function argumentsOf(engine: Engine, node: Node): ValueSet {
  engine.fact("HW-7007", node, "it uses `arguments`", "name the parameters, or use `...rest`");
  const body = functionAround(node);
  if (body === null) return alone(engine.data("input"));
  const site = engine.site(body.body ?? body);
  engine.put(site, null, engine.given(body));
  return union(alone(site), alone(engine.data("input")));
}

/** The function whose `arguments` are meant: arrows have none of their own. */
function functionAround(node: Node): FunctionNode | null {
  let found = enclosingFunction(node);
  while (found?.type === "ArrowFunctionExpression") found = enclosingFunction(found);
  return found;
}

function isInAnyZone({ parent }: Node): boolean {
  return parent?.type === "MemberExpression" && ANY_ZONE.has(keyOf(parent, parent.property) ?? "");
}

/** `exports.a = …` adds to what a worker's file exports, too; `module.exports = …` would take its place. */
function isExporting(node: Node & { name: string }): boolean {
  const outer = node.parent;
  if (node.name !== "exports" || outer?.type !== "MemberExpression" || outer.object !== node) return false;
  return outer.parent?.type === "AssignmentExpression" && outer.parent.left === outer;
}

function globalNamed(engine: Engine, node: Node & { name: string }): ValueSet {
  const { name } = node;
  if (engine.module.blockFunctions.has(name)) {
    const reason = `it uses ${name}, which is declared inside of another statement`;
    engine.fact("HW-7012", node, reason, `declare ${name} in the file, outside of blocks`);
  }
  if (VALUES.has(name)) return NONE;
  if ((name === "Date" || name === "Intl") && !isInAnyZone(node)) engine.current.time(node);
  if (name === "console") return alone(engine.receiver("console", null));
  if (name === "__dirname" || name === "__filename") {
    engine.current.name(name);
    return NONE;
  }
  if (engine.module.format === "commonjs") {
    if (name === "exports" || name === "module" || name === "require") {
      if (!engine.loading || !isExporting(node)) {
        const reason = `it uses \`${name}\`, which is another one in the file of a worker`;
        engine.fact("HW-7007", node, reason, "read what it needs of it into a constant of the file");
      }
      return alone(name === "require" ? engine.builtin(name) : engine.namespace(engine.module));
    }
  }
  if (!ALL_GLOBALS.has(name)) {
    engine.unknown(
      node,
      `it uses the global variable ${name}, of which nothing is known`,
      `import ${name}, or declare it in a file of the program`,
    );
  }
  return alone(engine.builtin(name));
}
