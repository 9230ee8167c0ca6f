import { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";

/**
 * The rules of a context program, as the errors that enforce them: each names the contexts, the method and the
 * rule, and says what to do. Every runtime takes them from here, so that a program is refused with the same
 * words wherever it runs.
 */

interface Named {
  readonly name: string;
}

/** How an error about a value names the arguments of a call. */
export function argumentsOf(target: Address, method: Named): string {
  return `${target}.${method.name}(…)`;
}

/** How an error about a value names what a method returned. */
export function resultOf(target: Address, method: Named): string {
  return `the result of ${target}.${method.name}(…)`;
}

/** How an error about a value names a message to a connected client. */
export function messageTo(client: string): string {
  return `the message to client ${JSON.stringify(client)}`;
}

export function callUp(from: Address, target: Address, method: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1001",
    `${from} called ${target}.${method.name}(…), which is above it. An event may only call contexts below the one ` +
      `that calls: let ${target} make both calls, or start a later event with ` +
      `\`this.event.start(…).${method.name}(…)\`.`,
  );
}

export function callSelf(from: Address, method: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1001",
    `${from} called its own ${method.name}(…) through a reference. An event may only call contexts below the one ` +
      `that calls: write \`this.${method.name}(…)\`, or start a later event with \`this.event.start(…).${method.name}(…)\`.`,
  );
}

export function callSideways(from: Address, target: Address, method: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1002",
    `${from} called ${target}.${method.name}(…), which is not below it. An event may only call contexts below the one ` +
      "that calls: let a context above both make the calls, or use `this.event.start` (`this.event.send` for another " +
      "logical node) for a later event.",
  );
}

export function reacquire(address: Address, method: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1003",
    `${address}.${method.name}(…) was called by an event that had given up ${address}. Later events may have changed it ` +
      "since, so the same event cannot enter it again: make this call before `this.downgrade()`.",
  );
}

/** `held` is the nearest context above `address` that the event has entered and not given up. */
export function downgradeBelowHeld(address: Address, held: Address): HeadwaterError {
  return new HeadwaterError(
    "HW-1004",
    `${address} was downgraded while the event still holds ${held} above it. Contexts are given up from the top: ` +
      `call \`this.downgrade()\` in ${held} first.`,
  );
}

export function usedAfterEnd(address: Address, method: Named, what: string): HeadwaterError {
  const ended = `${address}.${method.name}`;
  return new HeadwaterError(
    "HW-1008",
    `${what} was used after ${ended} had ended. Keep no \`this.event\` for later.`,
  );
}

export function unawaited(
  address: Address,
  method: Named,
  target: Address,
  calledMethod: Named,
): HeadwaterError {
  return new HeadwaterError(
    "HW-1005",
    `${address}.${method.name} ended without waiting for its call of ${target}.${calledMethod.name}(…). Calls below are ` +
      "part of the event: `await` each of them (several with `Promise.all`), or use `this.event.start` for a later event.",
  );
}

/** `own` is an async method of the context itself that `method` has called. */
export function unawaitedOwn(address: Address, method: Named, own: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1026",
    `${address}.${method.name} ended without waiting for its own async method ${own.name}(…). What that does is part of ` +
      `the event: write \`await this.${own.name}(…)\`, or use \`this.event.start\` for a later event.`,
  );
}

/** `did` is what code of the method did after the method had returned. */
export function leftBehind(address: Address, method: Named, did: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1026",
    `${address}.${method.name} had returned when code that it had left behind ${did}. A method returns when all its code ` +
      "is done: was `await` forgotten before a call of an async function, or did `Promise.race`, `Promise.any` or a caught " +
      "`Promise.all` go on before the others had ended? Await them all (`Promise.allSettled`).",
  );
}

/** The ends of the sentence in `leftBehind`. */
export const did = {
  change: (fields: readonly string[]) => `changed ${fields.join(", ")}`,
  call: (target: Address, method: Named) => `called ${target}.${method.name}(…)`,
  ask: "used this.event",
  downgrade: "called this.downgrade()",
};

export function writeAfterDowngrade(address: Address, fields: readonly string[]): HeadwaterError {
  return new HeadwaterError(
    "HW-1009",
    `${address} was changed (${fields.join(", ")}) after \`this.downgrade()\`. An event may only look at what it has ` +
      "given up: assign before downgrading, or do not downgrade.",
  );
}

export function readonlyChanged(address: Address, method: Named, fields: readonly string[]): HeadwaterError {
  return new HeadwaterError(
    "HW-1010",
    `${address}.${method.name} is marked read-only but changed ${fields.join(", ")}. Remove the mark, or the change.`,
  );
}

/** `address` and `method` are what was called. */
export function readonlyCallsWriter(address: Address, method: Named): HeadwaterError {
  return new HeadwaterError(
    "HW-1011",
    `${address}.${method.name}(…) was called by a read-only event, but it is not marked read-only. Mark ` +
      `${method.name} with \`@readonly\` if it changes nothing, or remove the mark from the method that the event began with.`,
  );
}

/** `method` is the method that the event began with. */
export function undeclaredRead(address: Address, method: Named, ancestorName: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1012",
    `${address} read the state of ${ancestorName} above it, in an event that began with ${method.name} and does not ` +
      `hold ${ancestorName}. If ${ancestorName} is above the context of ${method.name}, declare it: \`@reads(${ancestorName})\` before ` +
      `${method.name}. If it is below, call a method of ${ancestorName} that makes this call, or pass on what is needed as an argument.`,
  );
}

export function readonlyDowngrade(address: Address): HeadwaterError {
  return new HeadwaterError(
    "HW-1019",
    `${address} was downgraded in a read-only event, which holds nothing that others wait to write. Remove ` +
      "`this.downgrade()`.",
  );
}

export function wrongNodeStart(address: Address): HeadwaterError {
  return new HeadwaterError(
    "HW-1018",
    `${address} is part of another logical node, "${address.node}". \`this.event.start\` begins events on this one; ` +
      "use `this.event.send`.",
  );
}

export function wrongNodeSend(address: Address): HeadwaterError {
  return new HeadwaterError(
    "HW-1018",
    `${address} is part of the same logical node, "${address.node}". \`this.event.send\` is for messages to others; ` +
      "use `this.event.start`.",
  );
}

/** `known` are the names of all logical nodes of the program. */
const NAMED_MAX = 20;

function some(names: readonly string[]): string {
  const rest = names.length - NAMED_MAX;
  return rest > 0 ? `${names.slice(0, NAMED_MAX).join(", ")} and ${rest} more` : names.join(", ");
}

export function noSuchPeer(cls: Named, name: string | undefined, known: readonly string[]): HeadwaterError {
  const wanted = name === undefined ? cls.name : `${cls.name} and the name ${JSON.stringify(name)}`;
  return new HeadwaterError(
    "HW-1020",
    `There is not exactly one logical node with the root class ${wanted}; the program has ${some(known)}. Give ` +
      "`this.event.peer` the class of its root, and its name if several have that class.",
  );
}

/** `why` is one of `noTimer`. */
export function badTimer(address: Address, why: string): HeadwaterError {
  return new HeadwaterError("HW-1021", `A timer of ${address} cannot be set or cancelled: ${why}.`);
}

/** `why` is one of `noOutsideCall`. */
export function badOutsideCall(address: Address, why: string): HeadwaterError {
  return new HeadwaterError("HW-1022", `An outside call of ${address} cannot be made: ${why}.`);
}

/** The ends of the sentence in `badOutsideCall`. */
export const noOutsideCall = {
  declared: "what is to be called must have been declared with `outside(name, function)`",
  method:
    "the method that takes the result must be one of its own, passed as `this.method`, or one of a context above, as in " +
    "`this.event.outside(work, input, this.above(Class)).method()`",
  target: (target: Address) =>
    `its result can start an event there or on a context above it, which ${target} is not`,
};

/** `why` is one of `noList`. */
export function badList(address: Address, why: string): HeadwaterError {
  return new HeadwaterError("HW-1031", `${address} cannot list its children like that: ${why}.`);
}

/** The ends of the sentence in `badList`. */
export const noList = {
  own: "`this.event.list` takes a field of its own that was declared with `this.children(Class)`, as in `this.event.list(this.rooms)`",
  limit: (limit: unknown, max: number) =>
    `the limit must be a whole number from 1 to ${max}, not ${String(limit)}`,
  givenUp: "the event has given it up, so later events may be in them; list them before `this.downgrade()`",
  underWay:
    "`this.downgrade()` would let later events into them before the list is there; await the list first",
};

/** `why` is one of `noDelete`. */
export function badDelete(target: Address, why: string): HeadwaterError {
  return new HeadwaterError("HW-1031", `${target} cannot be deleted: ${why}.`);
}

/** The ends of the sentence in `badDelete`. */
export const noDelete = {
  below: (from: Address) =>
    `it is not below ${from}, and an event may only touch contexts below the asking context`,
  anonymous: "it is an anonymous context, which has nothing to delete",
  readonly: "the event is read-only",
  givenUp: (address: string) =>
    `the event has given up ${address}, so later events may be in it; delete it before \`this.downgrade()\``,
};

/** `address` and `method` are what runs, the others what was asked for. */
export function requestInside(
  address: Address,
  method: Named,
  target: Address,
  wanted: Named,
): HeadwaterError {
  return new HeadwaterError(
    "HW-1023",
    `${address}.${method.name} asked the service for ${target}.${wanted.name}(…) from inside its event. That would be another ` +
      "event, which may wait for this one for ever, and which stays if this one fails: call contexts below through `this`, " +
      "or use `this.event.start(…)` for a later event (`this.event.send` for another logical node).",
  );
}

export function fieldAdded(address: Address, method: Named, field: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1024",
    `${address}.${method.name} assigned to this.${field}, which is not a field of the context. A context has the fields that ` +
      `have a value when it is made: give it one where it is declared, \`${field} = …\` or ` +
      `\`${field}: string | undefined = undefined\`.`,
  );
}

export function fieldDeleted(address: Address, method: Named, field: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1024",
    `${address}.${method.name} deleted this.${field}. A context keeps the fields that it was made with: declare it as ` +
      `\`${field}: string | undefined\` with an initial value, and assign undefined.`,
  );
}

export function inputOf(address: Address, name: string): string {
  return `the input of the outside call "${name}" of ${address}`;
}

export function isDelay(ms: unknown): boolean {
  return typeof ms === "number" && ms >= 0 && ms < Number.POSITIVE_INFINITY;
}

/** The ends of the sentence in `badTimer`. */
export const noTimer = {
  anonymous: "an anonymous context keeps nothing, so it has no timers",
  readonly: (method: Named) => `${method.name} is read-only, and timers are part of a context's state`,
  givenUp: "the event has given it up, and timers are part of a context's state",
  method:
    "the method must be one of its own, passed as `this.method`, or one of a context above, as in " +
    "`this.event.after(ms, this.above(Class)).method()`",
  target: (target: Address) => `its event can start there or on a context above it, which ${target} is not`,
  delay: (ms: unknown) => `the delay must be a finite number of milliseconds, at least 0, not ${String(ms)}`,
  notItsOwn: (timer: unknown) =>
    `${typeof timer === "string" ? JSON.stringify(timer) : typeof timer} is not the name of a timer that it has set itself`,
};
