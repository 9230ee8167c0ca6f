import {
  type CallSpec,
  type ClassSpec,
  type Expr,
  type MethodSpec,
  mapBodies,
  type Op,
  type ProgramSpec,
  type RequestSpec,
} from "./program.js";
import { pruned } from "./prune.js";

export interface SimplerProgram {
  readonly spec: ProgramSpec;
  readonly workload: readonly RequestSpec[];
}

/** Programs that are one step simpler than this one, large steps first. */
export function* simplerPrograms(
  spec: ProgramSpec,
  workload: readonly RequestSpec[],
): Iterable<SimplerProgram> {
  if (spec.nodes.length > 1) {
    for (const gone of spec.nodes.keys()) yield pruned(withoutNode(spec, gone), workload);
  }
  for (const [index, cls] of spec.classes.entries()) {
    for (const part of ["slots", "methods", "fields"] as const) {
      for (const gone of cls[part].keys()) {
        const rest = { ...cls, [part]: cls[part].filter((_, i) => i !== gone) };
        yield pruned(withClass(spec, index, rest), workload);
      }
    }
  }
  for (const [index, cls] of spec.classes.entries()) {
    for (const [at, method] of cls.methods.entries()) {
      for (const simpler of simplerMethods(method)) {
        const methods = cls.methods.map((other, i) => (i === at ? simpler : other));
        yield { spec: withClass(spec, index, { ...cls, methods }), workload };
      }
    }
  }
}

function withClass(spec: ProgramSpec, index: number, cls: ClassSpec): ProgramSpec {
  return { nodes: spec.nodes, classes: spec.classes.map((other, i) => (i === index ? cls : other)) };
}

/** Classes keep their indices, so those of the logical node stay, out of reach. */
function withoutNode({ nodes, classes }: ProgramSpec, gone: number): ProgramSpec {
  const renumbered = (body: readonly Op[]): Op[] =>
    body.map((op) => {
      if (op.op !== "send" || op.node < gone) return mapBodies(op, renumbered);
      return { ...op, node: op.node === gone ? nodes.length : op.node - 1 };
    });
  return {
    nodes: nodes.filter((_, i) => i !== gone),
    classes: classes.map((cls) => {
      return { ...cls, methods: cls.methods.map((method) => ({ ...method, body: renumbered(method.body) })) };
    }),
  };
}

function* simplerMethods(method: MethodSpec): Iterable<MethodSpec> {
  if (method.body.length > 1) yield { ...method, body: [] };
  for (const body of simplerBodies(method.body)) yield { ...method, body };
  if (method.async) yield { ...method, async: false };
  if (method.readonly) yield { ...method, readonly: false };
  if (method.returns !== null) yield { ...method, returns: null };
  if (method.reads.length > 0) yield { ...method, reads: [] };
}

/** Bodies in which one operation is gone, replaced by its parts, or simpler. */
function* simplerBodies(body: readonly Op[]): Iterable<Op[]> {
  for (const [at, op] of body.entries()) {
    for (const instead of insteadOf(op)) yield [...body.slice(0, at), ...instead, ...body.slice(at + 1)];
  }
}

function* insteadOf(op: Op): Iterable<Op[]> {
  yield [];
  switch (op.op) {
    case "try":
    case "if":
      yield op.body;
      for (const body of simplerBodies(op.body)) yield [{ ...op, body }];
      break;
    case "branches":
      for (const branch of op.branches) yield branch;
      for (const gone of op.branches.keys())
        if (op.branches.length > 1) yield [{ ...op, branches: op.branches.filter((_, i) => i !== gone) }];
      for (const [at, branch] of op.branches.entries())
        for (const simpler of simplerBodies(branch))
          yield [{ ...op, branches: op.branches.map((other, i) => (i === at ? simpler : other)) }];
      break;
    case "during":
      yield [{ op: "call", call: op.call }, ...op.body];
      if (op.forks > 0) yield [{ ...op, forks: op.forks - 1 }];
      for (const body of simplerBodies(op.body)) yield [{ ...op, body }];
      for (const call of simplerCalls(op.call)) yield [{ ...op, call }];
      break;
    case "breathe":
      if (op.turns > 1) yield [{ ...op, turns: 1 }];
      break;
    case "par":
      if (op.also != null) yield [op.also];
      if (op.also != null) yield [{ ...op, also: null }];
      for (const gone of op.calls.keys()) {
        const calls = op.calls.filter((_, i) => i !== gone);
        const [only] = calls;
        yield calls.length === 1 && only !== undefined ? [{ op: "call", call: only }] : [{ ...op, calls }];
      }
      for (const [at, call] of op.calls.entries()) {
        for (const simpler of simplerCalls(call)) {
          yield [{ ...op, calls: op.calls.map((other, i) => (i === at ? simpler : other)) }];
        }
      }
      break;
    case "call":
    case "start":
    case "send":
    case "forget":
    case "pass":
    case "stray":
      for (const call of simplerCalls(op.call)) yield [{ ...op, call }];
      break;
    case "delete":
      for (const [at, step] of op.path.entries()) {
        if (step.key !== 0)
          yield [{ ...op, path: op.path.map((each, i) => (i === at ? { ...each, key: 0 } : each)) }];
      }
      break;
    case "change":
    case "outside":
    case "tell":
      if (op.value !== 0) yield [{ ...op, value: 0 }];
      break;
    case "own":
      for (const args of simplerArgs(op.args)) yield [{ ...op, args }];
      break;
    case "timer":
      for (const args of simplerArgs(op.args)) yield [{ ...op, args }];
      if (op.ms > 0) yield [{ ...op, ms: 0 }];
      if (op.count !== undefined && op.count > 2) yield [{ ...op, count: op.count >> 1 }];
      if (op.count !== undefined) yield [withoutCount(op)];
      if (op.keep !== null) yield [{ ...op, keep: null }];
      if (op.at != null) yield [{ ...op, at: null }];
      break;
    case "pause":
      if (op.units > 1) yield [{ ...op, units: 1 }];
  }
}

function* simplerCalls(call: CallSpec): Iterable<CallSpec> {
  for (const [at, step] of call.path.entries()) {
    if (step.key === 0) continue;
    yield { ...call, path: call.path.map((other, i) => (i === at ? { ...other, key: 0 } : other)) };
  }
  for (const args of simplerArgs(call.args)) yield { ...call, args };
}

function* simplerArgs([a, b]: [Expr, Expr]): Iterable<[Expr, Expr]> {
  if (a !== 0) yield [0, b];
  if (b !== 0) yield [a, 0];
}

function withoutCount({ count: _, ...op }: Op & { op: "timer" }): Op {
  return op;
}
