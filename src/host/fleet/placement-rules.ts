import { type Colocate, type Placed, Placement, togetherBy } from "../../elastic/placement.js";
import { HeadwaterError } from "../../errors.js";
import { Context, type ContextClass } from "../../model/context.js";
import { isKindOf } from "../../model/shape.js";
import type { HostId } from "../ports/index.js";
import { Addressed, misplaced, type Roots } from "./addressed.js";

/** Which contexts are on which hosts. What no rule speaks of is placed by hashing, together with its parent. */
export interface PlacementRules {
  /** Contexts of these classes are placed by themselves, not with their parents. */
  readonly separate?: readonly ContextClass[];
  /** Contexts for which it returns the same name are on one host. */
  readonly colocate?: Colocate;
  /** Addresses, `*` for any key, and the hosts (from 0) where these contexts are: `{ "Game.buildings(*)": 0 }`. */
  readonly pin?: Readonly<Record<string, number>>;
}

const RULES = ["separate", "colocate", "pin"];

/** The same rules, of which no one speaks of what cannot be. */
export function checkedRules(rules: unknown, roots: Roots): PlacementRules {
  if (rules === undefined) return {};
  if (!isRecord(rules))
    throw misplaced(
      `\`placement\` is ${shown(rules)}, and should be an object of rules: ${RULES.join(", ")}.`,
    );
  const unknown = Object.keys(rules).find((rule) => !RULES.includes(rule));
  if (unknown !== undefined)
    throw misplaced(`\`placement\` has a rule "${unknown}". There are ${RULES.join(", ")}.`);
  const { separate = [], colocate, pin = {} } = rules;
  if (!Array.isArray(separate))
    throw misplaced(
      `\`placement.separate\` is ${shown(separate)}, and should be an array of classes: \`[Room]\`.`,
    );
  if (!isRecord(pin))
    throw misplaced(
      `\`placement.pin\` is ${shown(pin)}, and should be an object: \`{ "Game.buildings(*)": 0 }\`.`,
    );
  const addressed = new Addressed(roots);
  const pins = Object.entries(pin).map(([address, host]) => [
    addressed.pattern(address, "`placement.pin`"),
    host as number,
  ]);
  return {
    separate: contextClasses(separate, addressed, "`placement.separate`"),
    ...(colocate === undefined
      ? {}
      : {
          colocate: checkedColocate(colocate, Object.entries(roots).map(rootPlaced), "`placement.colocate`"),
        }),
    pin: Object.fromEntries(pins) as Record<string, number>,
  };
}

/** The places on so many hosts, according to rules. */
export function placementFor(
  hosts: number,
  { separate = [], colocate, pin = {} }: PlacementRules = {},
): Placement<HostId> {
  const placement = new Placement<HostId>(Array.from({ length: hosts }, (_, host) => host as HostId));
  for (const cls of separate) placement.separate(cls);
  if (colocate !== undefined) placement.colocate(colocate);
  for (const [pattern, host] of Object.entries(pin) as [string, HostId][]) {
    if (!placement.isOpen(host)) {
      throw new HeadwaterError(
        "HW-6011",
        `\`placement.pin\` names host ${host} for ${pattern}. There are ${hosts} hosts, the first is host 0.`,
      );
    }
    placement.pin(pattern, host);
  }
  return placement;
}

/** The classes, if they are some of contexts of the program. */
export function contextClasses(
  classes: readonly unknown[],
  addressed: Addressed,
  rule: string,
): ContextClass[] {
  return classes.map((cls) => {
    if (typeof cls !== "function" || !isKindOf(cls as ContextClass, Context))
      throw misplaced(`${rule} names ${shown(cls)}, which is no class of contexts.`);
    addressed.mustHave(cls as ContextClass, rule);
    return cls as ContextClass;
  });
}

/** The rule, if it can say of each of these contexts where it belongs. */
export function checkedColocate(rule: unknown, contexts: Iterable<Placed>, name: string): Colocate {
  if (typeof rule !== "function")
    throw misplaced(
      `${name} is ${shown(rule)}, and should be a function from a context to the name of its group.`,
    );
  for (const context of contexts) {
    try {
      togetherBy(rule as Colocate, context);
    } catch (error) {
      throw misrule(name, context, error);
    }
  }
  return rule as Colocate;
}

/** What a rule does that cannot say where a context belongs. */
export function misrule(name: string, context: Placed, error: unknown): HeadwaterError {
  const why = error instanceof Error ? error.message : String(error);
  return misplaced(`the rule of ${name} could not say where ${context} belongs: ${why}.`, error);
}

function rootPlaced([node, cls]: [string, ContextClass]): Placed {
  return {
    node,
    depth: 0,
    key: undefined,
    parent: null,
    shape: { cls, anonymous: false },
    toString: () => node,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  if (typeof value === "function") return value.name || "a function";
  return typeof value === "string"
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? "an array"
      : String(value);
}
