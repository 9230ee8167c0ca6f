import { Context, type ContextClass } from "../../model/context.js";
import type { CurrentEvent, TimerId } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import type { OutsideResult } from "../../model/outside.js";
import type { Children, Target } from "../../model/refs.js";
import { change, digest, keyOf, mix, plain } from "./data.js";
import { dressed } from "./odd-values.js";
import { simulated } from "./outside.js";
import type {
  BrokenRule,
  BuiltProgram,
  CallSpec,
  Expr,
  FieldSpec,
  GeneratedFieldKind,
  MethodSpec,
  Op,
  WholeOp,
} from "./program.js";

/**
 * Carries out the methods of generated programs. A step that need not wait returns undefined, so that a method
 * without calls and pauses is an ordinary synchronous one.
 */

/** A context of a generated program, seen from inside: its fields are known only by name. */
export interface Self {
  readonly key: Key | undefined;
  readonly event: CurrentEvent;
  downgrade(): void;
  above(cls: ContextClass): unknown;
  child(cls: ContextClass): unknown;
  children(cls: ContextClass): unknown;
  map(): unknown;
  set(): unknown;
  list(): unknown;
  [name: string]: unknown;
}

/** One method of one event under way. */
interface Run {
  readonly program: BuiltProgram;
  readonly classIndex: number;
  readonly self: Self;
  readonly a: number;
  readonly b: number;
  readonly fuel: number;
  acc: number;
  returnsFunction: boolean;
}

type Pending = PromiseLike<unknown> | undefined;
type AnyFunction = (...args: unknown[]) => unknown;
type Later = Record<string, AnyFunction>;

export function execute(
  program: BuiltProgram,
  classIndex: number,
  method: MethodSpec,
  self: Self,
  given: number | OutsideResult<number>,
  b: number,
  fuel: number,
): unknown {
  const a = typeof given === "number" ? given : given.ok ? given.value : given.error.message.length;
  const run: Run = { program, classIndex, self, a, b, fuel, acc: 0, returnsFunction: false };
  const pending = runOps(run, method.body);
  return pending === undefined ? resultOf(run, method) : pending.then(() => resultOf(run, method));
}

function resultOf({ self, acc, returnsFunction }: Run, { returns }: MethodSpec): unknown {
  if (returnsFunction) return () => acc;
  return returns === null ? acc : { acc, seen: plain(self[returns]) };
}

function runOps(run: Run, ops: readonly Op[]): Pending {
  for (let i = 0; i < ops.length; i++) {
    const pending = step(run, ops[i] as Op);
    if (pending !== undefined) return resume(run, ops, i + 1, pending);
  }
  return undefined;
}

async function resume(
  run: Run,
  ops: readonly Op[],
  from: number,
  pending: PromiseLike<unknown>,
): Promise<void> {
  await pending;
  for (let i = from; i < ops.length; i++) {
    const next = step(run, ops[i] as Op);
    if (next !== undefined) await next;
  }
}

function step(run: Run, op: Op): Pending {
  const { self } = run;
  switch (op.op) {
    case "change":
      return change(self, op.field, kindOf(run, op.field), op.drop, evaluate(run, op.value));
    case "get":
      if (op.field !== null) return see(run, self[op.field]);
      for (const { name } of fieldsOf(run)) see(run, self[name]);
      return undefined;
    case "call":
      return invoke(run, self, op.call, evaluate(run, op.call.args[0])).then((value) => see(run, value));
    case "par":
      return together(run, op);
    case "branches":
      return branches(run, op);
    case "during":
      return during(run, op);
    case "breathe":
      return breathe(op.turns);
    case "own":
      return own(run, op);
    case "list":
    case "delete":
      return whole(run, op).then((value) => see(run, value));
    case "try":
      return attempt(run, op.body);
    case "if":
      return evaluate(run, op.of) % op.mod === op.is ? runOps(run, op.body) : undefined;
    case "throw":
      throw Object.assign(new RangeError(`${op.text} ${run.acc}`), { odd: dressed(run.acc) });
    case "downgrade":
      return void self.downgrade();
    case "start":
      return run.fuel > 0 ? start(run, op.from, op.call) : undefined;
    case "send":
      return run.fuel > 0 ? send(run, op.node, op.call) : undefined;
    case "tell":
      return void self.event.send(op.client ?? self.event.caller ?? "nobody", {
        acc: run.acc,
        value: [dressed(evaluate(run, op.value))],
      });
    case "timer":
      return run.fuel > 0 ? setTimer(run, op) : undefined;
    case "outside":
      return run.fuel > 0 ? callOutside(run, op) : undefined;
    case "cancel":
      if (self[op.field] !== "") self.event.cancel(self[op.field] as TimerId);
      return undefined;
    case "read":
      return see(run, self.event.read(run.program.classes[op.cls] as ContextClass));
    case "know":
      return see(run, know(self));
    case "pause":
      return run.program.hooks.pause(op.units, self.event);
    case "forget":
      return forget(run, op);
    case "stray":
      return invoke(run, fromRoot(run), op.call, evaluate(run, op.call.args[0])).then((value) =>
        see(run, value),
      );
    case "pass":
      return invoke(run, self, op.call, () => run.acc).then((value) => see(run, value));
    case "store":
      self[op.field] = () => run.acc;
      return undefined;
    case "break":
      return breakRule(run, op.rule);
  }
}

function fieldsOf({ program, classIndex }: Run): readonly FieldSpec[] {
  return program.spec.classes[classIndex]?.fields ?? [];
}

function kindOf(run: Run, field: string): GeneratedFieldKind | undefined {
  return run.program.kinds[run.classIndex]?.get(field);
}

function evaluate(run: Run, expr: Expr): number {
  switch (expr) {
    case "acc":
      return run.acc;
    case "a":
      return run.a;
    case "b":
      return run.b;
    case "key":
      return digest(run.self.key);
    default:
      return expr;
  }
}

/** Everything that a method sees goes into its accumulator, and from there into what it returns and does. */
function see(run: Run, value: unknown): undefined {
  run.acc = mix(run.acc, digest(value));
}

/** Follows a path down, from a context or from a reference. */
function follow(run: Run, from: unknown, { path }: Pick<CallSpec, "path">): Record<string, AnyFunction> {
  let at = from as Record<string, unknown>;
  for (const { field, style, keys, key } of path) {
    const below = at[field];
    const named = keyOf(style, evaluate(run, key) % keys);
    if (named === undefined) at = below as typeof at;
    else at = (below as AnyFunction)(...(typeof named === "object" ? named : [named])) as typeof at;
  }
  return at as Record<string, AnyFunction>;
}

function above({ self, program }: Run, cls: number): Target<unknown> {
  return self.above(program.classes[cls] as ContextClass) as Target<unknown>;
}

function fromRoot({ self, program, classIndex }: Run): unknown {
  return self.above(program.rootOf[classIndex] as ContextClass);
}

function invoke(run: Run, from: unknown, call: CallSpec, first: unknown): Promise<unknown> {
  return follow(run, from, call)[call.method]?.(
    first,
    evaluate(run, call.args[1]),
    run.fuel,
  ) as Promise<unknown>;
}

function forget(run: Run, { call, followedUp }: Op & { op: "forget" }): undefined {
  const forgotten = invoke(run, run.self, call, evaluate(run, call.args[0]));
  if (!followedUp) return;
  void forgotten.then((value) => invoke(run, run.self, call, digest(value)));
}

/** Async functions side by side: what each sees goes into the one accumulator, so the order in which they go on shows. */
function branches(run: Run, { join, branches: bodies }: Op & { op: "branches" }): Pending {
  const begun = bodies.map(async (body) => {
    await runOps(run, body);
    return run.acc;
  });
  switch (join) {
    case "all":
      return Promise.all(begun).then((values) => see(run, values));
    case "allSettled":
      return Promise.allSettled(begun).then((results) => {
        for (const each of results) see(run, each.status === "fulfilled" ? each.value : nameOf(each.reason));
      });
    case "race":
      return Promise.race(begun).then((value) => see(run, value));
    case "any":
      return Promise.any(begun).then(
        (value) => see(run, value),
        ({ errors }: AggregateError) => {
          throw new RangeError(errors.map(nameOf).join());
        },
      );
    case "none":
      void Promise.allSettled(begun);
      return undefined;
  }
}

function nameOf(error: unknown): string {
  return (error as { code?: string }).code ?? (error as Error).message;
}

async function during(run: Run, { call, body, forks }: Op & { op: "during" }): Promise<void> {
  const promise = invoke(run, run.self, call, evaluate(run, call.args[0]));
  const waiting = Array.from({ length: forks }, () => promise.then((value) => see(run, value)));
  await runOps(run, body);
  see(run, await promise);
  await Promise.all(waiting);
}

async function breathe(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await null;
}

function own(run: Run, { method, args, awaited }: Op & { op: "own" }): Pending {
  const result = (run.self[method] as AnyFunction).call(
    run.self,
    evaluate(run, args[0]),
    evaluate(run, args[1]),
    0,
  );
  if (!awaited) return undefined;
  return result instanceof Promise ? result.then((value) => see(run, value)) : see(run, result);
}

/** Calls that run side by side. */
async function together(run: Run, { calls, hasty, also }: Op & { op: "par" }): Promise<void> {
  const results: PromiseLike<unknown>[] = [];
  for (const [i, call] of calls.entries()) {
    const result = invoke(run, run.self, call, evaluate(run, call.args[0]));
    results.push(i % 2 === 0 ? result : result.then((value) => value)); // which makes no difference
    if (i === 0 && also != null) results.push(whole(run, also));
  }
  if (hasty) {
    for (const value of await Promise.all(results)) see(run, value);
    return;
  }
  for (const result of await Promise.allSettled(results)) {
    if (result.status === "rejected") throw result.reason;
    see(run, result.value);
  }
}

async function whole(run: Run, op: WholeOp): Promise<unknown> {
  const { event } = run.self;
  if (op.op === "delete") return event.delete(follow(run, run.self, op) as never);
  const children = run.self[op.field] as Children<Context<string>>;
  const { limit } = op;
  const { keys, next } = await event.list(children, { limit });
  if (next === undefined) return keys;
  const more = await event.list(children, { limit, after: next });
  return [keys, more.keys, more.next ?? 0];
}

function attempt(run: Run, body: readonly Op[]): Pending {
  const caught = (error: unknown) => see(run, nameOf(error));
  try {
    return runOps(run, body)?.then(undefined, caught);
  } catch (error) {
    return caught(error);
  }
}

function start(run: Run, from: (Op & { op: "start" })["from"], call: CallSpec): undefined {
  const { self } = run;
  const at = from === "parent" ? self.event.parent(Context) : from === "root" ? fromRoot(run) : self;
  if (at !== undefined) later(run, self.event.start(follow(run, at, call) as never), call);
}

function know({ event }: Self): unknown {
  const { ticket, node, address, sender } = event;
  return [ticket, node, address, sender?.node ?? 0, sender?.address ?? 0, String(event.parent(Context))];
}

function send(run: Run, node: number, call: CallSpec): undefined {
  const { event } = run.self;
  const { name = "", root = 0 } = run.program.spec.nodes[node] ?? {};
  const peer = event.peer(run.program.classes[root] as ContextClass, name);
  later(run, event.send(follow(run, peer, call) as never), call);
}

function later(run: Run, target: unknown, { method, args }: CallSpec): void {
  (target as Record<string, AnyFunction>)[method]?.(
    evaluate(run, args[0]),
    evaluate(run, args[1]),
    run.fuel - 1,
    dressed(run.acc), // which no event needs, but all have to carry
  );
}

function callOutside(run: Run, { value, into, at }: Op & { op: "outside" }): undefined {
  const { self, program } = run;
  const input = { world: program.hooks.world, value: evaluate(run, value) };
  if (into === null) self.event.outside(simulated, input);
  else if (at == null) self.event.outside(simulated, input, self[into] as AnyFunction);
  else
    (self.event.outside(simulated, input, above(run, at)) as Later)[into]?.(
      evaluate(run, value),
      run.fuel - 1,
    );
}

function setTimer(run: Run, { ms, method, args, keep, at, count = 1 }: Op & { op: "timer" }): undefined {
  const { self } = run;
  const [first, second] = [evaluate(run, args[0]), evaluate(run, args[1])];
  const arm = (delay: number, fuel: number) => {
    const given = [first, second, fuel, dressed(run.acc)];
    if (at == null) return self.event.after(delay, self[method] as AnyFunction, ...given);
    return (self.event.after(delay, above(run, at)) as Later)[method]?.(...given);
  };
  for (let i = 1; i < count; i++) arm(ms + ((i * 7) % 13), 0);
  const timer = arm(ms, run.fuel - 1);
  if (keep !== null) self[keep] = timer;
}

function breakRule(run: Run, rule: BrokenRule): Pending {
  const { self } = run;
  switch (rule) {
    case "return a function":
      run.returnsFunction = true;
      return undefined;
    case "send home":
      return void self.event.send(fromRoot(run) as never);
    case "bad delay":
      return void self.event.after(-1, self.downgrade);
    case "bad cancel":
      return void self.event.cancel("elsewhere:1:1@");
    case "delete above":
      return self.event.delete(fromRoot(run) as never);
    case "list elsewhere":
      return self.event.list((() => 0) as never);
    case "no such method":
      return (fromRoot(run) as Record<string, AnyFunction>).nothing?.() as undefined;
  }
}
