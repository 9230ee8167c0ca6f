import type { Type, ValueType } from "../plan/index.js";
import type { CodeBuilder } from "./code.js";

/** A value of one type as one of another; the plan has checked that there is a way. */
export function cast(code: CodeBuilder, from: Type, to: Type, a: string): string {
  const write = CASTS[`${from.type} ${to.type}`];
  if (write === undefined) throw new RangeError(`There is no cast from ${from.type} to ${to.type}.`);
  return write(code, a, from.scale, to.scale);
}

export function canCast(from: ValueType, to: ValueType): boolean {
  return from === to || CASTS[`${from} ${to}`] !== undefined;
}

type Write = (code: CodeBuilder, a: string, from: number, to: number) => string;

const CASTS: Readonly<Record<string, Write>> = {
  "int float": (_, a) => a,
  "int text": (_, a) => `String(${a})`,
  "int bool": (_, a) => `${a} !== 0`,
  "int numeric": (code, a, _, to) => rescaled(code, a, to),
  "float int": (code, a) => code.call("floatToInt", [a], true),
  "float text": (code, a) => code.call("floatText", [a]),
  "float numeric": (code, a, _, to) => code.call("floatToNumeric", [a, String(to)], true),
  "bool int": (_, a) => `(${a} ? 1 : 0)`,
  "bool text": (_, a) => `String(${a})`,
  "numeric int": (code, a, from) => code.call("numericToInt", [rescaled(code, a, -from)], true),
  "numeric float": (code, a, from) => code.call("numericToFloat", [a, String(from)]),
  "numeric numeric": (code, a, from, to) => rescaled(code, a, to - from),
  "numeric text": (code, a, from) => code.call("numericText", [a, String(from)]),
  "timestamp text": (code, a) => code.call("timestampText", [a]),
  "text int": (code, a) => code.call("textToInt", [a], true),
  "text float": (code, a) => code.call("textToFloat", [a], true),
  "text bool": (code, a) => code.call("textToBool", [a], true),
  "text numeric": (code, a, _, to) => code.call("textToNumeric", [a, String(to)], true),
  "json text": (_, a) => a,
};

function rescaled(code: CodeBuilder, a: string, by: number): string {
  return by === 0 ? a : code.call("rescale", [a, String(by)]);
}
