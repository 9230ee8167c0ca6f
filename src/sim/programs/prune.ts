import type { Step } from "../../model/path.js";
import {
  type CallSpec,
  type ClassSpec,
  type MethodSpec,
  mapBodies,
  type Op,
  type ProgramSpec,
  type RequestSpec,
} from "./program.js";

/** A program and its requests without everything that names a field, slot, method or logical node that is gone. */
export function pruned(
  spec: ProgramSpec,
  workload: readonly RequestSpec[],
): { spec: ProgramSpec; workload: readonly RequestSpec[] } {
  const classes = spec.classes.map((cls, index) => {
    const fits = (op: Op) => opFits(spec, index, cls, op);
    const methods = cls.methods.map((method): MethodSpec => {
      const returns = method.returns !== null && hasField(cls, method.returns) ? method.returns : null;
      return { ...method, returns, body: kept(method.body, fits) };
    });
    return { ...cls, methods };
  });
  const places = workload.map((request) => requestFits(spec, request));
  const survivors = workload.map((_, index) => index).filter((index) => places[index]);
  const requests = survivors.map((index) => {
    const request = workload[index] as RequestSpec;
    const after = request.after === null ? -1 : survivors.indexOf(request.after);
    return { ...request, after: after < 0 ? null : after };
  });
  return { spec: { nodes: spec.nodes, classes }, workload: requests };
}

/** The index of the root class of the logical node that a class is part of. */
export function rootOf(spec: ProgramSpec, index: number): number {
  return spec.nodes.findLast(({ root }) => root <= index)?.root ?? 0;
}

/** The class that a path leads to, or null if it leads nowhere. */
export function classAt(
  spec: ProgramSpec,
  from: number,
  path: readonly Step[] | CallSpec["path"],
): ClassSpec | null {
  let cls = spec.classes[from];
  for (const { field } of path) {
    const slot = cls?.slots.find(({ name }) => name === field);
    cls = slot === undefined ? undefined : spec.classes[slot.cls];
  }
  return cls ?? null;
}

function kept(body: readonly Op[], fits: (op: Op) => boolean): Op[] {
  return body.filter(fits).map((op) => mapBodies(op, (inner) => kept(inner, fits)));
}

function opFits(spec: ProgramSpec, index: number, cls: ClassSpec, op: Op): boolean {
  switch (op.op) {
    case "change":
    case "cancel":
    case "store":
      return hasField(cls, op.field);
    case "get":
      return op.field === null || hasField(cls, op.field);
    case "call":
    case "forget":
    case "pass":
    case "during":
      return callFits(spec, index, op.call);
    case "par":
      return (
        op.calls.every((call) => callFits(spec, index, call)) &&
        (op.also == null || opFits(spec, index, cls, op.also))
      );
    case "list":
      return cls.slots.some(({ name }) => name === op.field);
    case "delete":
      return classAt(spec, index, op.path) !== null;
    case "start":
      return op.from === "parent"
        ? parentFits(spec, index, op.call)
        : callFits(spec, op.from === "self" ? index : rootOf(spec, index), op.call);
    case "stray":
      return callFits(spec, rootOf(spec, index), op.call);
    case "send": {
      const node = spec.nodes[op.node];
      return node !== undefined && callFits(spec, node.root, op.call);
    }
    case "own":
      return hasMethod(cls, op.method);
    case "outside":
      return op.into === null || hasMethod(atOrAbove(spec, cls, op.at), op.into);
    case "timer":
      return (
        hasMethod(atOrAbove(spec, cls, op.at), op.method) && (op.keep === null || hasField(cls, op.keep))
      );
    default:
      return true;
  }
}

function atOrAbove(spec: ProgramSpec, cls: ClassSpec, at: number | null | undefined): ClassSpec {
  return at == null ? cls : (spec.classes[at] ?? cls);
}

/** Every class that this one is a child of has the method. */
function parentFits({ classes }: ProgramSpec, index: number, { method }: CallSpec): boolean {
  const parents = classes.filter(({ slots }) => slots.some(({ cls }) => cls === index));
  return parents.every((parent) => hasMethod(parent, method));
}

function callFits(spec: ProgramSpec, from: number, { path, method }: CallSpec): boolean {
  const cls = classAt(spec, from, path);
  return cls !== null && hasMethod(cls, method);
}

function requestFits(spec: ProgramSpec, { node, path, method }: RequestSpec): boolean {
  const root = spec.nodes.find(({ name }) => name === node)?.root;
  const cls = root === undefined ? null : classAt(spec, root, path);
  return cls !== null && hasMethod(cls, method);
}

function hasField({ fields }: ClassSpec, name: string): boolean {
  return fields.some((field) => field.name === name);
}

function hasMethod({ methods }: ClassSpec, name: string): boolean {
  return methods.some((method) => method.name === name);
}
