import type { Diagnostic } from "../pipeline.js";
import {
  type CallExpression,
  callsIn,
  type FunctionNode,
  isFunction,
  isInside,
  type Node,
  walk,
  written,
} from "../source/syntax.js";
import type { Body, Fact } from "../values/things.js";
import { candidate, containerOf, decideCall, isAsyncFunction } from "./call.js";
import { decidePart } from "./part.js";
import { diagnosticOf, type StagePlan } from "./plan.js";
import type { Whole } from "./whole.js";

export interface Decisions {
  readonly plans: readonly StagePlan[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Goes through all parts and asynchronous functions, and decides what may run elsewhere. */
export function decide(whole: Whole, names: ReadonlyMap<FunctionNode, string>, folder: string): Decisions {
  const plans: StagePlan[] = [];
  const diagnostics: Diagnostic[] = [];
  const gone: Node[] = [];
  const { patched } = whole;
  if (patched !== null) return { plans, diagnostics: patchedDiagnostics(whole, patched, names) };
  for (const listener of whole.listeners.values()) {
    if (
      gone.some(
        (each) =>
          each !== listener.node && isInside(listener.node, each) && sameFile(whole, each, listener.node),
      )
    ) {
      continue;
    }
    const name = names.get(listener.node) ?? "anonymous";
    const decision = decidePart(whole, listener, name, folder);
    if (decision.goes) {
      plans.push(decision.plan);
      gone.push(listener.node);
    } else {
      diagnostics.push(...told(whole, decision.facts, name, listener.node));
    }
  }
  for (const node of containers(whole)) {
    if (gone.some((each) => isInside(node, each) && sameFile(whole, each, node))) continue;
    const calls = callsIn(node);
    if (calls.length === 0) continue;
    const container = containerOf(whole, node, isFunction(node) ? (whole.listeners.get(node) ?? null) : null);
    for (const call of calls) {
      if (
        plans.some(
          (each) =>
            each.kind === "call" &&
            isInside(call, each.node) &&
            sameFile(whole, call, each.node) &&
            !(each.posts && isInContinuation(call, each.node)),
        )
      )
        continue;
      if (!candidate(whole, container, call)) continue;
      const decision = decideCall(whole, container, call, folder);
      if (decision.goes) plans.push(decision.plan);
      else diagnostics.push(...told(whole, decision.facts, `${written(call.callee)}()`, call));
    }
  }
  return { plans, diagnostics };
}

/** Workers have the language as it is, not as the program changed it. */
function patchedDiagnostics(
  whole: Whole,
  { node, path }: NonNullable<Whole["patched"]>,
  names: ReadonlyMap<FunctionNode, string>,
): Diagnostic[] {
  const module = whole.engine.moduleOf(node);
  const reason = `the program changes ${path}, which workers would not see`;
  const advice = "use a function of the program instead";
  return [...whole.listeners.keys()].map((listener) =>
    diagnosticOf(
      { code: "HW-7002", node, module, reason, advice },
      names.get(listener) ?? "",
      whole.engine.moduleOf(listener),
      listener,
    ),
  );
}

function sameFile(whole: Whole, a: Node, b: Node): boolean {
  return whole.engine.moduleOf(a) === whole.engine.moduleOf(b);
}

/** The continuation of a call that goes stays, with calls of its own. */
function isInContinuation(call: Node, { arguments: given }: CallExpression): boolean {
  const last = given.at(-1);
  return last !== undefined && isInside(call, last);
}

function containers(whole: Whole): Body[] {
  const found: Body[] = [];
  for (const module of whole.program.modules.values()) {
    if (module.format === "module") found.push(module.syntax);
    walk(module.syntax, (node) => {
      if (isFunction(node) && (whole.listeners.has(node) || isAsyncFunction(node))) found.push(node);
      return undefined;
    });
  }
  return found;
}

function told(whole: Whole, facts: readonly Fact[], subject: string, node: Node): Diagnostic[] {
  const module = whole.engine.moduleOf(node);
  const inOrder = [...facts].sort((a, b) => a.node.start - b.node.start);
  const seen = new Set<string>();
  return inOrder.flatMap((fact) => {
    const key = `${fact.code} ${fact.node.start} ${fact.reason}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [diagnosticOf(fact, subject, module, node)];
  });
}
