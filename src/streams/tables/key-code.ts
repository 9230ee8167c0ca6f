import type { Column, Schema } from "../columns/index.js";

/**
 * Looking up a key in an open-addressing table, as code for one shape of key: the types of the key's columns and whether
 * they can be NULL. All tables of a shape share it. A key is given as numbers, `k0`, `k1`…: a number as it is, a truth value
 * as 0 or 1, a text as its code in the column's pool, a decimal beyond ±2^53 as a BigInt; and for a column that can be NULL a
 * flag behind it, `u0`, 1 for NULL.
 * NULL equals NULL here, as in GROUP BY, and NaN equals NaN, as in PostgreSQL.
 *
 * The probe is linear. A slot holds the number of a row plus one, and rows keep their hashes, so most rows that are not
 * meant are told apart by one comparison.
 */
export interface Slots {
  slots: Int32Array;
  hashes: Int32Array;
  columns: readonly Column[];
  seed: number;
}

/** `find` gives the row, or -1, and leaves the key's hash in `table.hash`. */
export type Find = (this: void, table: Slots & { hash: number }, ...key: (number | bigint)[]) => number;

const made = new Map<string, Find>();

export function findOf(keys: Schema): Find {
  const code = findCode(keys);
  const known = made.get(code);
  if (known !== undefined) return known;
  const parameters = keys.flatMap(({ nullable }, i) => (nullable ? [`k${i}`, `u${i}`] : [`k${i}`]));
  const hashDouble = "hashDouble";
  const factory = new Function(hashDouble, `return function (table, ${parameters.join(", ")}) {\n${code}\n}`);
  const find = factory(doubleHash) as Find;
  made.set(code, find);
  return find;
}

function findCode(keys: Schema): string {
  return [
    "const slots = table.slots, hashes = table.hashes, columns = table.columns;",
    "let hash = table.seed;",
    ...keys.flatMap(({ type, nullable }, i) => [
      `const v${i} = columns[${i}].${type === "text" || type === "json" ? "codes" : "values"};`,
      ...(nullable ? [`const n${i} = columns[${i}].nulls;`] : []),
      `hash = Math.imul(hash ^ ${hashOf(type, `k${i}`)}, 0x85ebca6b);`,
      ...(nullable ? [`hash ^= (hash >>> 13) + u${i};`] : ["hash ^= hash >>> 13;"]),
    ]),
    "hash = Math.imul(hash, 0xc2b2ae35);",
    "hash ^= hash >>> 16;",
    "table.hash = hash;",
    "const mask = slots.length - 1;",
    "for (let at = hash & mask; ; at = (at + 1) & mask) {",
    "const row = slots[at] - 1;",
    "if (row < 0) return -1;",
    `if (hashes[row] === hash${keys.map(sameKey).join("")}) return row;`,
    "}",
  ].join("\n");
}

function hashOf(type: Schema[number]["type"], k: string): string {
  const small = `((${k} | 0) === ${k} ? ${k} : hashDouble(${k}))`;
  return type === "numeric" ? `(typeof ${k} === "bigint" ? hashDouble(Number(${k})) : ${small})` : small;
}

function sameKey({ type, nullable }: Schema[number], i: number): string {
  const value = `v${i}[row] === k${i}`;
  const same =
    type === "float"
      ? `(${value} || (k${i} !== k${i} && v${i}[row] !== v${i}[row]))`
      : type === "numeric"
        ? `(${value} || (typeof k${i} === "bigint" && columns[${i}].bigs.get(row) === k${i}))`
        : value;
  return nullable ? ` && n${i}[row] === u${i} && ${same}` : ` && ${same}`;
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

function doubleHash(value: number): number {
  double[0] = value;
  return Number.isNaN(value) ? 0x7ff80000 : Math.imul(words[0] as number, 0x9e3779b1) ^ (words[1] as number);
}
