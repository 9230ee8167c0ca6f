import { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";

/** What a context class may say about its state in a journal. */
export interface Versioned {
  /** Counts the shapes that the state of this class has had. */
  readonly version?: unknown;
  /** Makes the fields of the present version from those of an older one. */
  readonly upgrade?: (fields: Record<string, unknown>, version: number) => unknown;
}

export function versionOf(cls: ContextClass): number {
  const { version = 1 } = cls as Versioned;
  if (typeof version === "number" && Number.isSafeInteger(version) && version > 0) return version;
  throw new HeadwaterError(
    "HW-1017",
    `${cls.name}.version is ${String(version)}. The version of a context class is a whole number, 1 if it is not given.`,
  );
}
