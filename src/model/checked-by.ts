import { HeadwaterError } from "../errors.js";

/** A schema of any library that follows Standard Schema (zod, valibot, arktype and others). */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

interface ValidationIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type OutputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : unknown
  : never;

/** The arguments that schemas let through. */
export type SchemaOutputs<S extends readonly unknown[]> = { -readonly [I in keyof S]: OutputOf<S[I]> };

/**
 * An API function whose arguments schemas check, one for each: `put: checkedBy([z.string(), z.number()], (store, key, count) => …)`.
 * The function gets what the schemas return, typed by them; a caller whose arguments they refuse gets HW-4024.
 */
export function checkedBy<R, const S extends readonly StandardSchema[], T>(
  schemas: S,
  request: (root: R, ...args: SchemaOutputs<S>) => Promise<T>,
): {
  readonly request: (root: R, ...args: SchemaOutputs<S>) => Promise<T>;
  readonly check: (...args: unknown[]) => unknown[];
} {
  return { request, check: (...args) => validated(schemas, args) };
}

function validated(schemas: readonly StandardSchema[], args: readonly unknown[]): unknown[] {
  if (args.length > schemas.length)
    throw refused(`there are ${args.length} arguments instead of ${schemas.length}`);
  return schemas.map((schema, index) => {
    const result = schema["~standard"].validate(args[index]);
    if (result instanceof Promise) {
      result.catch(() => {});
      throw refused(`the schema of argument ${index + 1} is asynchronous, and arguments are checked at once`);
    }
    if (result.issues === undefined) return result.value;
    throw refused(result.issues.map((issue) => `${placeOf(issue, index)}: ${issue.message}`).join("; "));
  });
}

function placeOf({ path = [] }: ValidationIssue, index: number): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return [`argument ${index + 1}`, ...keys].join(".");
}

function refused(why: string): HeadwaterError {
  return new HeadwaterError("HW-4024", `the arguments are not what this function takes: ${why}.`);
}
