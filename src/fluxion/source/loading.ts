import { basename, dirname, relative } from "node:path";
import type { Diagnostic } from "../pipeline.js";
import type { SourceModule } from "./module.js";
import type { SourceProgram } from "./program.js";
import { type Node, plain, walk } from "./syntax.js";

/** What Node will not be able to load. That is for Node to say, when it comes to that; but people want to know before. */
export function loadingDiagnostics({ broken, modules }: SourceProgram): Diagnostic[] {
  const unreadable = broken.map(({ path, by, node, reason }) =>
    diagnostic(
      by,
      node,
      relative(dirname(by.path), path),
      `nothing is known of this file, which Node cannot load either: ${reason}`,
      "if it is not meant to fail, run it with `node` to see why it does",
    ),
  );
  const requiring = [...modules.values()].flatMap((module) => {
    const node = requireIn(module);
    if (node === null) return [];
    const reason = "Node loads this file as an ES module, where there is no `require`: this call will fail";
    const advice = 'use `import`, or name the file `.cjs`, or take `"type": "module"` out of package.json';
    return [diagnostic(module, node, basename(module.path), reason, advice)];
  });
  return [...unreadable, ...requiring];
}

/**
 * Where a program loads code that the compiler does not see, because only the running program knows its name. That says why nothing was
 * found where nothing was.
 */
export function unseenDiagnostics({ modules }: SourceProgram): Diagnostic[] {
  return [...modules.values()].flatMap((module) => {
    const found: Diagnostic[] = [];
    walk(module.syntax, (node) => {
      const name = loadedName(module, node);
      if (name === null || name.type === "Literal") return undefined;
      const reason =
        "it loads code by a name that is only known when the program runs, and nothing of that code is looked at";
      const advice = "load it by a name that is written there, or compile the file that is loaded";
      found.push(diagnostic(module, node, basename(module.path), reason, advice));
      return undefined;
    });
    return found;
  });
}

/** What a `require`, an `import()` or a new process is given. */
function loadedName(module: SourceModule, node: Node): Node | null {
  if (node.type === "ImportExpression") return node.source;
  if (node.type !== "CallExpression") return null;
  const callee = plain(node.callee);
  const [name] = node.arguments;
  if (name === undefined || callee.type !== "Identifier") return null;
  const isRequire = callee.name === "require" && !module.variable(callee);
  return isRequire ? plain(name) : null;
}

function diagnostic(
  by: SourceModule,
  node: Node,
  subject: string,
  reason: string,
  advice: string,
): Diagnostic {
  const place = by.place(node);
  return { code: "HW-7001", place, subject, subjectPlace: place, reason, advice };
}

/** Where a file uses `require` that does not have it; with types, it is not Node that loads it. */
function requireIn(module: SourceModule): Node | null {
  if (module.format !== "module" || /ts$/.test(module.path)) return null;
  const found = module.loads.find(({ node }) => {
    const call = plain(node);
    if (call.type !== "CallExpression") return false;
    const callee = plain(call.callee);
    return callee.type === "Identifier" && !module.variable(callee);
  });
  return found?.node ?? null;
}
