import type { Random } from "../../random.js";
import { keyOf } from "./data.js";
import { drawExpr } from "./draft.js";
import type { ClassSpec, MethodSpec, Op, PathStep, ProgramSpec, RequestSpec, SlotSpec } from "./program.js";
import { classesAbove, nodeOf } from "./reach.js";

/**
 * What generated programs seldom or never have by themselves, each of it added to some of them after they were drawn:
 *
 * - methods that declare several contexts above and read all of them;
 * - a *lagging* root: its events change it, give it up and take their time, while events that no caller outside asked for read it
 *   from below, so that these are long between their tickets and their commits;
 * - a class that is its own child, with contexts three levels deep in it.
 */
export function extended(
  random: Random,
  spec: ProgramSpec,
  workload: readonly RequestSpec[],
): { spec: ProgramSpec; workload: readonly RequestSpec[] } {
  const program = structuredClone(spec);
  if (random.chance(0.3)) readMore(random, program);
  if (random.chance(0.3)) letRootsLag(random, program);
  if (!random.chance(0.25)) return { spec: program, workload };
  const index = random.int(program.classes.length);
  const slot = addItselfAsChild(random, program.classes[index] as ClassSpec, index);
  return {
    spec: program,
    workload: slot === null ? workload : goDeeper(random, program, workload, index, slot),
  };
}

function readMore(random: Random, spec: ProgramSpec): void {
  const above = classesAbove(spec);
  for (const [index, { methods }] of spec.classes.entries()) {
    for (const method of methods) {
      const chance = method.reads.length > 0 ? 0.7 : 0.3;
      const more = (above[index] ?? []).filter((cls) => !method.reads.includes(cls) && random.chance(chance));
      method.reads.push(...more);
      for (const cls of more) insert(random, method, { op: "read", cls });
    }
  }
}

function letRootsLag(random: Random, spec: ProgramSpec): void {
  for (const { root } of spec.nodes) {
    const cls = spec.classes[root] as ClassSpec;
    // Time must not pass where other code of a method goes on meanwhile.
    const slow = cls.methods.filter(
      (each) => !each.readonly && !cls.methods.some((other) => calls(other, each)),
    );
    if (slow.length === 0) continue;
    const method = random.pick(slow);
    if (random.chance(0.7)) method.body = method.body.filter(({ op }) => op !== "change"); // which would fail
    method.body.unshift(
      { op: "change", field: "f0", drop: false, value: drawExpr(random) },
      { op: "downgrade" },
      { op: "pause", units: 1 + random.int(3) },
    );
    for (const [index, below] of spec.classes.entries())
      if (index !== root && nodeOf(spec, index) === nodeOf(spec, root)) startReaders(random, below, root);
  }
}

/** A method reads the root, and another one lets it be started later. */
function startReaders(random: Random, { methods, anonymous }: ClassSpec, root: number): void {
  const reader = random.pick(methods);
  const starter = random.pick(methods);
  if (!reader.reads.includes(root)) reader.reads.push(root);
  insert(random, reader, { op: "read", cls: root });
  const args = [drawExpr(random), drawExpr(random)] as const;
  const isTimer = !anonymous && !starter.readonly && random.chance(0.5);
  insert(
    random,
    starter,
    isTimer
      ? { op: "timer", ms: random.int(5), method: reader.name, args: [...args], keep: null }
      : { op: "outside", value: args[0], into: reader.name },
  );
}

function addItselfAsChild(random: Random, cls: ClassSpec, index: number): SlotSpec | null {
  if (cls.anonymous) return null;
  const style = random.pick(["number", "text", "pair", null] as const);
  const slot = { name: `s${cls.slots.length}`, cls: index, style, keys: style === null ? 1 : 2 };
  cls.slots.push(slot);
  // Methods that are called do not call on, so no chain of calls is endless.
  const called = random.pick(cls.methods);
  if ([...allOps(called.body)].some(({ op }) => op === "own")) return slot;
  for (const method of cls.methods) {
    if (method === called || (method.readonly && !called.readonly) || random.chance(0.4)) continue;
    const step = (): PathStep => ({ field: slot.name, style, keys: slot.keys, key: drawExpr(random) });
    const path = random.chance(0.5) ? [step()] : [step(), step()];
    const call = { path, method: called.name, args: [drawExpr(random), drawExpr(random)] } as const;
    insert(random, method, { op: "call", call: { ...call, args: [...call.args] } });
    if (random.chance(0.3) && style !== null)
      insert(random, method, { op: "list", field: slot.name, limit: 1 });
    if (random.chance(0.2)) insert(random, method, { op: "delete", path: [step()] });
  }
  return slot;
}

/** Requests for contexts of that class go to those below them now and then. */
function goDeeper(
  random: Random,
  spec: ProgramSpec,
  workload: readonly RequestSpec[],
  index: number,
  { name: field, style, keys }: SlotSpec,
): RequestSpec[] {
  return workload.map((request) => {
    let at = spec.nodes.find(({ name }) => name === request.node)?.root ?? 0;
    for (const { field: below } of request.path)
      at = spec.classes[at]?.slots.find(({ name }) => name === below)?.cls ?? 0;
    if (at !== index || random.chance(0.5)) return request;
    const steps = Array.from({ length: 1 + random.int(2) }, () => {
      const key = keyOf(style, random.int(keys));
      return key === undefined ? { field } : { field, key };
    });
    return { ...request, path: [...request.path, ...steps] };
  });
}

function insert(random: Random, { body }: MethodSpec, op: Op): void {
  body.splice(random.int(body.length + 1), 0, op);
}

function calls(method: MethodSpec, called: MethodSpec): boolean {
  return [...allOps(method.body)].some((op) => op.op === "own" && op.method === called.name);
}

function* allOps(body: readonly Op[]): Iterable<Op> {
  for (const op of body) {
    yield op;
    if ("body" in op) yield* allOps(op.body);
    if (op.op === "branches") for (const branch of op.branches) yield* allOps(branch);
  }
}
