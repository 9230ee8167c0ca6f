import { HeadwaterError } from "../../errors.js";

/** What a system query computes with. */
export type SystemValue = null | boolean | number | string | readonly SystemValue[];

/** Rows of one relation in FROM. A relation that is empty and open has every column. */
export interface Relationlike {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, SystemValue>>[];
  readonly isOpen: boolean;
}

/** The rows that an expression can see, of its own query and of the queries around it. */
export interface SystemSight {
  readonly sources: readonly {
    readonly alias: string;
    readonly row: Readonly<Record<string, SystemValue>>;
    readonly isOpen: boolean;
    readonly columns: readonly string[];
  }[];
  readonly outer: SystemSight | null;
}

export const NOTHING: SystemSight = { sources: [], outer: null };

export function refused(what: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5102",
    `${what} is not answered about the system catalog. What is there: pg_class, pg_namespace, pg_attribute, pg_type, pg_index, ` +
      "pg_constraint, pg_database, pg_roles, and tables, columns, schemata and views of information_schema.",
  );
}

/** As PostgreSQL writes it. */
export function textOf(value: SystemValue): string | null {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? "t" : "f";
  if (typeof value === "object") return `{${value.map((each) => textOf(each) ?? "NULL").join(",")}}`;
  return String(value);
}

/** Below 0, 0 or above; texts that stand for numbers are compared with numbers as numbers. `null` if one of them is NULL. */
export function compare(a: SystemValue, b: SystemValue): number | null {
  if (a === null || b === null) return null;
  if (typeof a === "number" || typeof b === "number") {
    const [left, right] = [Number(a), Number(b)];
    return left === right ? 0 : left < right ? -1 : 1;
  }
  const [left, right] = [textOf(a) ?? "", textOf(b) ?? ""];
  if (typeof a === "boolean" || typeof b === "boolean") return Number(truth(a)) - Number(truth(b));
  return left === right ? 0 : left < right ? -1 : 1;
}

export function truth(value: SystemValue): boolean {
  return value === true || (typeof value === "string" && /^(t|true|on|1|yes)$/i.test(value));
}
