import type { Diagnostic } from "../../pipeline.js";
import type { Body, Engine, Hazard } from "../../points-to/index.js";
import {
  type CallExpression,
  type FunctionNode,
  isFunction,
  type Node,
  written,
} from "../../source/index.js";
import { containerOf, isAsyncFunction, type WholeProgram } from "../whole/index.js";
import { candidate, decideCall, looksMovable } from "./call.js";
import { decidePart } from "./part.js";
import { diagnosticOf, type StagePlan } from "./plan.js";

export interface Decisions {
  readonly plans: readonly StagePlan[];
  /** Why the others stay, in words. */
  diagnostics(): Diagnostic[];
}

/** Goes through all parts and asynchronous functions, and decides what may run elsewhere. */
export function decide(
  whole: WholeProgram,
  names: ReadonlyMap<FunctionNode, string>,
  callsOnly = false,
): Decisions {
  const plans: StagePlan[] = [];
  const staying: Staying[] = [];
  const { patched } = whole;
  if (patched !== null) return { plans, diagnostics: () => patchedDiagnostics(whole, patched, names) };
  const gone = new Set<Node>();
  const going = new Set<Node>();
  const looked = new Map<Body, Engine>();
  for (const listener of callsOnly ? [] : whole.listeners.values()) {
    if (isCovered(listener.node.parent, gone)) continue;
    const name = names.get(listener.node) ?? "anonymous";
    const decision = decidePart(whole, listener, name, looked);
    if (decision.goes) {
      plans.push(decision.plan);
      gone.add(listener.node);
      looked.delete(listener.node);
    } else {
      staying.push({ facts: decision.facts, subject: name, node: listener.node });
    }
  }
  for (const node of containers(whole)) {
    if (isCovered(node, gone)) continue;
    const calls = callsIn(whole, node).filter((call) => looksMovable(whole, node, call));
    if (calls.length === 0) continue;
    const container = containerOf(
      whole,
      node,
      isFunction(node) ? (whole.listeners.get(node) ?? null) : null,
      looked,
    );
    looked.delete(node);
    for (const call of calls) {
      if (isCovered(call, going) || !candidate(whole, container, call)) continue;
      const decision = decideCall(whole, container, call);
      if (decision.goes) {
        plans.push(decision.plan);
        for (const piece of goingIn(decision.plan)) going.add(piece);
      } else staying.push({ facts: decision.facts, subject: `${written(call.callee)}()`, node: call });
    }
  }
  return { plans, diagnostics: () => staying.flatMap((each) => told(whole, each)) };
}

/** Workers have the language as it is, not as the program changed it. */
function patchedDiagnostics(
  whole: WholeProgram,
  { node, path }: NonNullable<WholeProgram["patched"]>,
  names: ReadonlyMap<FunctionNode, string>,
): Diagnostic[] {
  const module = whole.engine.moduleOf(node);
  const isMatch = path.startsWith("RegExp.");
  const reason = isMatch
    ? `the program reads ${path}, which a match in a worker would not leave`
    : `the program changes ${path}, which workers would not see`;
  const advice = isMatch ? "use what `exec` gives" : "use a function of the program instead";
  return [...whole.listeners.keys()].map((listener) =>
    diagnosticOf(
      { code: "HW-7002", node, module, reason, advice },
      names.get(listener) ?? "",
      whole.engine.moduleOf(listener),
      listener,
    ),
  );
}

/** Is a node inside of one of these pieces of the program, or one of them itself? */
function isCovered(node: Node | null | undefined, pieces: ReadonlySet<Node>): boolean {
  for (let outer = node; outer; outer = outer.parent) if (pieces.has(outer)) return true;
  return false;
}

function callsIn(whole: WholeProgram, body: Body): CallExpression[] {
  const { acts } = whole.engine.moduleOf(body).inside(body);
  return acts.filter((act) => act.type === "CallExpression");
}

/** What goes of a call: if it has a continuation, that stays, with calls of its own. */
function goingIn(plan: StagePlan): readonly Node[] {
  if (plan.kind === "part" || !plan.posts) return [plan.node];
  return [plan.node.callee, ...plan.node.arguments.slice(0, -1)];
}

function containers(whole: WholeProgram): Body[] {
  const found: Body[] = [];
  for (const module of whole.program.modules.values()) {
    if (module.format === "module") found.push(module.syntax);
    for (const node of module.functions) {
      if (whole.listeners.has(node) || isAsyncFunction(node)) found.push(node);
    }
  }
  return found;
}

/** What stays, and what speaks against its going. */
interface Staying {
  readonly facts: readonly Hazard[];
  readonly subject: string;
  readonly node: Node;
}

function told(whole: WholeProgram, { facts, subject, node }: Staying): Diagnostic[] {
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
