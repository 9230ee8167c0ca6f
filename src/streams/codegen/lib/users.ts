import { RowError, type UserAggregate } from "../../../sql/index.js";
import type { KeyedTable } from "../../tables/index.js";

type Operand = Parameters<UserAggregate["add"]>[1];

/**
 * The state of a group of an aggregate that a program has declared, when a row has come or is taken back: the text of a JSON value.
 * Nothing is written yet, so a function that throws leaves its row out and has changed nothing.
 */
export function userNext(
  { signature: { name }, init, add, retract }: UserAggregate,
  table: KeyedTable,
  place: number,
  group: number,
  weight: number,
  ...operands: readonly Operand[]
): string {
  try {
    let state = stateOf(table, place, group, init);
    const change = weight > 0 ? add : retract;
    if (change === null) throw new RangeError("it cannot take rows back");
    for (let left = Math.abs(weight); left > 0; left--) state = change(state, ...operands);
    const text = JSON.stringify(state);
    if (text === undefined) throw new TypeError("its state is no plain data");
    return text;
  } catch (error) {
    throw failed(name, error);
  }
}

function stateOf(table: KeyedTable, place: number, group: number, init: () => unknown): unknown {
  const column = table.columns[place];
  if (group < 0 || column?.storage !== "text" || column.nulls?.[group] === 1) return init();
  return JSON.parse(column.texts.get(column.codes[group] as number));
}

/** What a group gives; without rows that counted, that of the first state. */
export function userResult({ signature: { name }, init, result }: UserAggregate, state: string | null) {
  try {
    return result(state === null ? init() : JSON.parse(state));
  } catch (error) {
    throw failed(name, error);
  }
}

function failed(name: string, error: unknown): RowError {
  if (error instanceof RowError) return error;
  return new RowError("39000", `${name}(): ${error instanceof Error ? error.message : String(error)}`);
}
