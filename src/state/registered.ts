import { HeadwaterError } from "../errors.js";
import { Context } from "../model/context.js";
import { hasPrivateNames } from "../model/private-names.js";
import { Reference } from "../model/refs.js";

/** The classes whose instances are plain data because the program said so. */

export type AnyClass = abstract new (...args: never[]) => object;

const registered = new Map<unknown, string>();

let again: { hasRegistered: boolean } | null = null;

/** Loads another copy of a program, and says whether it registers classes: those of the first copy stay. */
export async function registerAgain<T>(
  load: () => Promise<T>,
): Promise<{ readonly result: T; readonly hasRegistered: boolean }> {
  const noted = { hasRegistered: false };
  again = noted;
  try {
    return { result: await load(), hasRegistered: noted.hasRegistered };
  } finally {
    again = null;
  }
}

/** Lets instances of a class be stored and passed: its own enumerable fields travel, its methods stay. */
export function register(...classes: readonly AnyClass[]): void {
  if (again !== null) {
    again.hasRegistered = true;
    return;
  }
  for (const cls of classes) {
    const obstacle = whyNotRegistered(cls);
    if (obstacle !== null)
      throw new HeadwaterError("HW-1006", `${cls.name} cannot be registered: ${obstacle}.`);
    const other = [...registered].find(([known, name]) => name === cls.name && known !== cls);
    if (other !== undefined) {
      throw new HeadwaterError(
        "HW-1006",
        `Another class named ${cls.name} is registered already; rename one of them.`,
      );
    }
    registered.set(cls, cls.name);
  }
}

export function isRegistered(cls: unknown): boolean {
  return registered.has(cls);
}

/** The name under which instances of a class are written down, if it is registered. */
export function registeredName(cls: unknown): string | undefined {
  return registered.get(cls);
}

export function registeredClass(name: string): AnyClass | undefined {
  for (const [cls, known] of registered) if (known === name) return cls as AnyClass;
  return undefined;
}

/**
 * A copy is made of fields alone, so a class whose instances hold something else cannot be registered: one that
 * extends a built-in class would lose what that class keeps inside, and one with private fields those. Errors are copied
 * with their text.
 */
export function whyNotRegistered(cls: AnyClass): string | null {
  for (const own of [Context, Reference]) {
    if (cls === own || Object.prototype.isPrototypeOf.call(own, cls))
      return "contexts and references are not data";
  }
  for (
    let at: unknown = cls;
    typeof at === "function" && at !== Function.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    const builtIn = at !== Object && Function.prototype.toString.call(at).endsWith("{ [native code] }");
    if (builtIn && at !== Error && !Object.prototype.isPrototypeOf.call(Error, at)) {
      return `what ${at.name} holds is not in its fields; keep plain data, or a ${at.name} in a field`;
    }
    if (hasPrivateNames(at as () => unknown)) {
      const owner = at === cls ? "it" : `${at.name || "its base class"}, which it extends,`;
      return `${owner} has private fields or methods (#name), which a copy would not have; make them \`private\` in TypeScript alone, or keep plain data`;
    }
  }
  return null;
}
