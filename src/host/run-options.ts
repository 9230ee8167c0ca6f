import { HeadwaterError } from "../errors.js";
import { AnonymousContext, Context, type ContextClass } from "../model/context.js";
import { storedNameOf } from "../model/shape.js";
import { DEFAULT_LIMITS, type Limits } from "./ports/index.js";
import type { RunOptions } from "./service.js";
import type { HistoryRange } from "./store/index.js";

/** What `run` is given is looked through before anything begins: not every program is checked by a compiler. */

type Choices = Readonly<Partial<Record<keyof RunOptions, readonly string[]>>>;

const CHOICES: Choices = {
  commitOrder: ["observer", "total"],
  durability: ["synced", "written"],
};
const FLAGS = ["takeOver"] as const;
const CALLBACKS = ["onError", "onFailure", "onWarning", "onLoad"] as const;

export function checkRun(program: unknown, options: unknown): void {
  checkProgram(program);
  if (typeof options !== "object" || options === null)
    throw cannot(`its options must be an object, not ${shown(options)}`);
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = given[name];
    if (value === undefined || choices.includes(value as string)) continue;
    throw cannot(`${name} is one of ${choices.map(shown).join(", ")}, not ${shown(value)}`);
  }
  for (const name of CALLBACKS) {
    if (given[name] === undefined || typeof given[name] === "function") continue;
    throw cannot(`${name} must be a function, not ${shown(given[name])}`);
  }
  checkFlags(given);
  if (given.history !== undefined && given.journal === undefined)
    throw cannot("history is kept in a journal, and no journal is given");
  historyIn(given.history);
  checkDropped(program, given);
}

/** A node that is dropped and runs would be dropped again with each start. */
function checkDropped(program: unknown, { dropNodes, journal }: Readonly<Record<string, unknown>>): void {
  if (dropNodes === undefined) return;
  if (!Array.isArray(dropNodes) || !dropNodes.every((name) => typeof name === "string"))
    throw cannot(`dropNodes must be an array of names of logical nodes, not ${shown(dropNodes)}`);
  if (dropNodes.length > 0 && journal === undefined)
    throw cannot("dropNodes deletes state in a journal, and no journal is given");
  const roots =
    typeof program === "function" ? [storedNameOf(program as ContextClass)] : Object.keys(program as object);
  const running = dropNodes.find((name) => roots.includes(name));
  if (running !== undefined)
    throw cannot(
      `dropNodes has ${shown(running)}, which is a logical node of the program. Leave it out there`,
    );
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How much of the past is kept; null for none. */
export function historyIn(given: unknown): HistoryRange | null {
  if (given === undefined) return null;
  if (typeof given === "number" && Number.isSafeInteger(given) && given > 0) return { tickets: given };
  const [, count, unit = ""] = /^([1-9]\d{0,6})([smhd])$/.exec(String(given)) ?? [];
  if (count !== undefined) return { ms: Number(count) * (UNITS_MS[unit] ?? 0) };
  throw cannot(
    `history is a number of tickets above 0, or a time such as "1h", "30m" or "10s", not ${shown(given)}`,
  );
}

function checkFlags(given: Readonly<Record<string, unknown>>): void {
  for (const name of FLAGS) {
    if (given[name] === undefined || typeof given[name] === "boolean") continue;
    throw cannot(`${name} must be true or false, not ${shown(given[name])}`);
  }
}

function checkProgram(program: unknown): void {
  if (program === Context || program === AnonymousContext)
    throw cannot(`${shown(program)} itself is no program; pass a class that extends Context`);
  if (typeof program === "function") return; // the classes are looked at one by one
  if (typeof program === "object" && program !== null && !Array.isArray(program)) return;
  throw cannot(
    `a program is a root class, or an object with a root class for each logical node, not ${shown(program)}`,
  );
}

/** The limits as they were given, where they were. */
export function limitsOf(given: Readonly<Record<string, unknown>> | undefined): Limits {
  if (given === undefined) return DEFAULT_LIMITS;
  if (typeof given !== "object" || given === null)
    throw cannot(`limits must be an object, not ${shown(given)}`);
  const limits: Record<string, unknown> = { ...DEFAULT_LIMITS };
  for (const [name, limit] of Object.entries(given)) {
    if (!(name in DEFAULT_LIMITS)) throw cannot(`there is no limit named ${shown(name)}`);
    if (limit === undefined) continue;
    if (!Number.isSafeInteger(limit) || (limit as number) < 1)
      throw cannot(`the limit ${name} must be a whole number above 0, not ${shown(limit)}`);
    limits[name] = limit;
  }
  return limits as unknown as Limits;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return value.name || "a function without a name";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function cannot(why: string): HeadwaterError {
  return new HeadwaterError("HW-1025", `the program cannot be run: ${why}.`);
}
