/**
 * Functions and operators with their meaning in one place: a line with the types, and a function over values that are not NULL.
 * The evaluator and generated code call the same function. `RowError` is how one refuses a row.
 */

import { type Builtin, idOf } from "./builtin.js";
import { CAST_BUILTINS } from "./cast.js";
import { JSON_BUILTINS } from "./json.js";
import { NUMBER_BUILTINS } from "./number.js";
import { PATTERN_BUILTINS } from "./pattern.js";
import { TEXT_BUILTINS } from "./text.js";
import { TIME_BUILTINS } from "./time.js";
import { userFunction } from "./user.js";

export type { Builtin } from "./builtin.js";
export { checkLength, idOf, RowError } from "./builtin.js";
export {
  declareAggregate,
  declareFunction,
  isDeclared,
  type UserAggregate,
  userAggregate,
  userSignatures,
} from "./user.js";

const ALL: readonly Builtin[] = [
  ...TEXT_BUILTINS,
  ...NUMBER_BUILTINS,
  ...TIME_BUILTINS,
  ...JSON_BUILTINS,
  ...PATTERN_BUILTINS,
  ...CAST_BUILTINS,
];

const BY_ID: ReadonlyMap<string, Builtin> = new Map(ALL.map((each) => [each.id, each]));

export const BUILTIN_SIGNATURES = ALL.map(({ signature }) => signature);

/**
 * The function of a name with operands of these types; `undefined` for functions that the evaluator and the engine have in forms of
 * their own. Where a type is not declared, the values decide.
 */
export function builtinOf(
  name: string,
  types: readonly string[],
  values: readonly unknown[] = [],
): Builtin | undefined {
  if (!types.includes("untyped")) return builtinById(idOf(name, types));
  // What is joined without a type is text.
  if (name === "||") return undefined;
  return ALL.find(
    ({ signature }) =>
      signature.name === name &&
      signature.operands.length === types.length &&
      signature.operands.every((type, i) =>
        types[i] === "untyped" ? isOf(values[i], type) : types[i] === type,
      ),
  );
}

function isOf(value: unknown, type: string): boolean {
  if (/^(text|json|jsonb|uuid)$/.test(type)) return typeof value === "string";
  if (type === "bool") return typeof value === "boolean";
  return type.endsWith("[]") ? Array.isArray(value) : typeof value === "number";
}

export function builtinById(id: string): Builtin | undefined {
  return BY_ID.get(id) ?? userFunction(id);
}
