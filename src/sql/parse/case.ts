import type { CaseExpr } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import { operation, type Reading } from "./reading.js";

/** `CASE x WHEN 1 THEN …` is `CASE WHEN x = 1 THEN …`. */
export function readCase({ reader, expression }: Reading, node: CaseExpr): SqlExpression {
  const compared = node.arg === undefined ? null : expression(node.arg);
  const branches = (node.args ?? []).flatMap((branch) => {
    if (!("CaseWhen" in branch)) return [];
    const { expr, result } = branch.CaseWhen;
    if (expr === undefined || result === undefined) return [];
    const when = expression(expr);
    return [
      {
        when: compared === null ? when : operation("=", [compared, when], []),
        result: expression(result),
      },
    ];
  });
  const otherwise = node.defresult === undefined ? null : expression(node.defresult);
  return { kind: "case", branches, otherwise, span: reader.spanOfCase(node.location) };
}
