import type { TypeCast, TypeName } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import { intervalMs } from "../interval.js";
import { arrayOf, type SqlType, scalarType, TYPE_NAMES } from "../types.js";
import { cover, type StatementReader, words } from "./reader.js";
import type { Reading } from "./reading.js";

/** A cast. What it makes of a literal is decided with the types, except for an interval, whose unit may stand outside it. */
export function readCast({ reader, expression }: Reading, node: TypeCast): SqlExpression {
  if (node.arg === undefined || node.typeName === undefined) return reader.unsupported("This cast", node);
  const type = readType(reader, node.typeName);
  if (/^timestamp/.test(type) && (node.typeName.typmods ?? []).length > 0)
    return reader.refuse(
      reader.span(node.typeName.location),
      "A cast to a time of limited precision is not supported; write date_trunc('second', …).",
    );
  const operand = expression(node.arg);
  const span = cover([operand.span, reader.span(node.typeName.location)]);
  if (type !== "interval" || operand.kind !== "constant" || typeof operand.value !== "string")
    return { kind: "cast", type, operand, span };
  const fields = node.typeName.typmods?.[0];
  const mask = fields !== undefined && "A_Const" in fields ? fields.A_Const.ival?.ival : undefined;
  const value = intervalMs(operand.value, mask);
  if (value !== null) return { kind: "constant", value, type, span };
  return reader.refuse(
    span,
    `'${operand.value}' is not an interval of a fixed length, such as '90 seconds'.`,
  );
}

/** A type by any of its names. */
export function readType(reader: StatementReader, node: TypeName): SqlType {
  const name = words(node.names)?.at(-1) ?? "";
  const span = reader.span(node.location);
  const type = scalarType(name);
  if (type === null)
    return reader.refuse(span, `There is no type ${name} here; there are ${TYPE_NAMES.join(", ")}.`);
  const limited = (node.typmods ?? []).length > 0;
  if (limited && type === "text" && name !== "bpchar")
    return reader.refuse(span, `A text of limited length is not supported; write text.`);
  if (limited && type === "numeric")
    return reader.refuse(
      span,
      "A numeric of limited digits is not supported; write numeric, and round(x, digits).",
    );
  if (node.arrayBounds === undefined) return type;
  if (node.arrayBounds.length > 1) return reader.refuse(span, "An array of arrays is not supported.");
  return arrayOf(type);
}
