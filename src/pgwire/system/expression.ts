import type { A_Expr, ColumnRef, FuncCall, Node, SelectStmt, SubLink, TypeName } from "libpg-query";
import { HeadwaterError } from "../../errors.js";
import { call, cast } from "./functions.js";
import type { Known } from "./relations.js";
import { compare, refused, type SystemSight, type SystemValue, textOf, truth } from "./value.js";

/** What a system query may evaluate at most: clients that show a database ask for far less. */
const STEPS_MAX = 3_000_000;
const PATTERN_MAX = 300;

/** Evaluates the expressions of system queries as they were parsed. Types are those of the values. */
export class SystemExpressions {
  #steps = 0;

  constructor(
    readonly known: Known,
    readonly parameters: readonly (string | null)[],
    readonly rowsOf: (query: SelectStmt, outer: SystemSight) => readonly (readonly SystemValue[])[],
  ) {}

  step(): void {
    if (++this.#steps > STEPS_MAX)
      throw new HeadwaterError(
        "HW-5512",
        "the query about the system catalog takes too many steps. Ask for one relation.",
      );
  }

  isTrue(node: Node | undefined, scope: SystemSight): boolean {
    return node === undefined || truth(this.value(node, scope));
  }

  value(node: Node | undefined, scope: SystemSight): SystemValue {
    this.step();
    if (node === undefined) return null;
    if ("ColumnRef" in node) return this.#column(node.ColumnRef, scope);
    if ("A_Const" in node) {
      const { isnull, ival, fval, boolval, sval } = node.A_Const;
      if (isnull === true) return null;
      if (ival !== undefined) return ival.ival ?? 0;
      if (fval !== undefined) return Number(fval.fval);
      if (boolval !== undefined) return boolval.boolval ?? false;
      return sval?.sval ?? "";
    }
    if ("A_Expr" in node) return this.#operator(node.A_Expr, scope);
    if ("BoolExpr" in node)
      return this.#logic(node.BoolExpr.boolop ?? "AND_EXPR", node.BoolExpr.args ?? [], scope);
    if ("TypeCast" in node)
      return cast(this.value(node.TypeCast.arg, scope), typeNameOf(node.TypeCast.typeName), this.known);
    if ("FuncCall" in node) return this.#call(node.FuncCall, scope);
    if ("CaseExpr" in node) {
      const { arg, args = [], defresult } = node.CaseExpr;
      const given = arg === undefined ? null : this.value(arg, scope);
      for (const each of args) {
        if (!("CaseWhen" in each)) continue;
        const { expr, result } = each.CaseWhen;
        const isMet =
          arg === undefined ? this.isTrue(expr, scope) : compare(given, this.value(expr, scope)) === 0;
        if (isMet) return this.value(result, scope);
      }
      return this.value(defresult, scope);
    }
    if ("NullTest" in node) {
      const isNull = this.value(node.NullTest.arg, scope) === null;
      return node.NullTest.nulltesttype === "IS_NOT_NULL" ? !isNull : isNull;
    }
    if ("BooleanTest" in node) {
      const value = this.value(node.BooleanTest.arg, scope);
      const test = node.BooleanTest.booltesttype ?? "IS_TRUE";
      if (test.endsWith("UNKNOWN")) return (value === null) === (test === "IS_UNKNOWN");
      const isSo = value !== null && truth(value) === test.endsWith("TRUE");
      return test.startsWith("IS_NOT") ? !isSo : isSo;
    }
    if ("CoalesceExpr" in node) {
      for (const each of node.CoalesceExpr.args ?? []) {
        const value = this.value(each, scope);
        if (value !== null) return value;
      }
      return null;
    }
    if ("CollateClause" in node) return this.value(node.CollateClause.arg, scope);
    if ("SubLink" in node) return this.#subquery(node.SubLink, scope);
    if ("SQLValueFunction" in node)
      return call((node.SQLValueFunction.op ?? "").replace("SVFOP_", "").toLowerCase(), this.known, []);
    if ("A_ArrayExpr" in node)
      return (node.A_ArrayExpr.elements ?? []).map((each) => this.value(each, scope));
    if ("ParamRef" in node) return this.parameters[(node.ParamRef.number ?? 1) - 1] ?? null;
    if ("A_Indirection" in node) {
      const list = this.value(node.A_Indirection.arg, scope);
      const [index] = node.A_Indirection.indirection ?? [];
      const at = index !== undefined && "A_Indices" in index ? this.value(index.A_Indices.uidx, scope) : null;
      return Array.isArray(list) && typeof at === "number"
        ? ((list[at - 1] as SystemValue | undefined) ?? null)
        : null;
    }
    throw refused(`An expression of the kind ${Object.keys(node)[0]}`);
  }

  #column({ fields = [] }: ColumnRef, scope: SystemSight): SystemValue {
    const names = fields.map(nameOf);
    const name = names.at(-1) ?? "";
    const alias = names.at(-2) ?? null;
    for (let at: SystemSight | null = scope; at !== null; at = at.outer)
      for (const source of at.sources) {
        if (alias !== null && source.alias !== alias) continue;
        if (Object.hasOwn(source.row, name)) return source.row[name] ?? null;
        if (alias !== null || source.isOpen) return null; // of PostgreSQL's many columns, the rows have those with something to tell
      }
    throw new HeadwaterError("HW-5103", `There is no column ${names.join(".")} in the system catalog.`);
  }

  #logic(how: string, args: readonly Node[], scope: SystemSight): SystemValue {
    if (how === "NOT_EXPR") {
      const value = this.value(args[0], scope);
      return value === null ? null : !truth(value);
    }
    const decides = how === "OR_EXPR";
    let isUnknown = false;
    for (const each of args) {
      const value = this.value(each, scope);
      if (value === null) isUnknown = true;
      else if (truth(value) === decides) return decides;
    }
    return isUnknown ? null : !decides;
  }

  #operator({ kind = "AEXPR_OP", name = [], lexpr, rexpr }: A_Expr, scope: SystemSight): SystemValue {
    const operator = nameOf(name.at(-1));
    const left = this.value(lexpr, scope);
    if (kind === "AEXPR_IN") {
      const items = rexpr !== undefined && "List" in rexpr ? (rexpr.List.items ?? []) : [];
      const found = items.some((each) => compare(left, this.value(each, scope)) === 0);
      return left === null ? null : found === (operator === "=");
    }
    if (kind === "AEXPR_BETWEEN" || kind === "AEXPR_NOT_BETWEEN") {
      const [low, high] = rexpr !== undefined && "List" in rexpr ? (rexpr.List.items ?? []) : [];
      const [from, to] = [compare(left, this.value(low, scope)), compare(left, this.value(high, scope))];
      return from === null || to === null ? null : (from >= 0 && to <= 0) === (kind === "AEXPR_BETWEEN");
    }
    const right = this.value(rexpr, scope);
    if (kind === "AEXPR_DISTINCT" || kind === "AEXPR_NOT_DISTINCT") {
      const isSame = left === null || right === null ? left === right : compare(left, right) === 0;
      return isSame === (kind === "AEXPR_NOT_DISTINCT");
    }
    if (kind === "AEXPR_NULLIF") return compare(left, right) === 0 ? null : left;
    if (kind === "AEXPR_OP_ANY" || kind === "AEXPR_OP_ALL") {
      const list = listOf(right);
      if (left === null || list === null) return null;
      const isMet = (each: SystemValue) => truth(this.#applied(operator, left, each));
      return kind === "AEXPR_OP_ANY" ? list.some(isMet) : list.every(isMet);
    }
    if (kind === "AEXPR_LIKE" || kind === "AEXPR_ILIKE") {
      if (left === null || right === null) return null;
      const isLike = like(String(right), kind === "AEXPR_ILIKE").test(textOf(left) ?? "");
      return isLike === !operator.startsWith("!");
    }
    return this.#applied(operator, left, right, lexpr === undefined);
  }

  #applied(operator: string, left: SystemValue, right: SystemValue, isPrefix = false): SystemValue {
    if (right === null || (left === null && !isPrefix)) return null;
    const order = compare(left, right) ?? 0;
    switch (operator) {
      case "=":
        return order === 0;
      case "<>":
      case "!=":
        return order !== 0;
      case "<":
        return order < 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case ">=":
        return order >= 0;
      case "~":
      case "~*":
      case "!~":
      case "!~*":
        return (
          regular(String(right), operator.endsWith("*")).test(textOf(left) ?? "") ===
          !operator.startsWith("!")
        );
      case "||":
        return typeof left === "object" && left !== null
          ? [...left, ...(listOf(right) ?? [])]
          : `${textOf(left)}${textOf(right)}`;
      case "+":
        return Number(left ?? 0) + Number(right);
      case "-":
        return Number(left ?? 0) - Number(right);
      case "*":
        return Number(left) * Number(right);
      case "/":
        return Math.trunc(Number(left) / Number(right));
      case "%":
        return Number(left) % Number(right);
      case "&":
        return Number(left) & Number(right);
      default:
        throw refused(`The operator ${operator}`);
    }
  }

  #call({ funcname = [], args = [] }: FuncCall, scope: SystemSight): SystemValue {
    const name = nameOf(funcname.at(-1));
    return call(
      name,
      this.known,
      args.map((each) => this.value(each, scope)),
    );
  }

  #subquery({ subLinkType, testexpr, subselect }: SubLink, scope: SystemSight): SystemValue {
    if (subselect === undefined || !("SelectStmt" in subselect)) throw refused("This subquery");
    const rows = this.rowsOf(subselect.SelectStmt, scope);
    switch (subLinkType) {
      case "EXISTS_SUBLINK":
        return rows.length > 0;
      case "ARRAY_SUBLINK":
        return rows.map(([first]) => first ?? null);
      case "ANY_SUBLINK": {
        const value = this.value(testexpr, scope);
        return value === null ? null : rows.some(([first]) => compare(value, first ?? null) === 0);
      }
      case "EXPR_SUBLINK":
        return rows[0]?.[0] ?? null;
      default:
        throw refused("This kind of subquery");
    }
  }
}

export function nameOf(node: Node | undefined): string {
  return node !== undefined && "String" in node ? (node.String.sval ?? "") : "";
}

export function typeNameOf(type: TypeName | undefined): string {
  return nameOf(type?.names?.at(-1));
}

export function listOf(value: SystemValue): readonly SystemValue[] | null {
  if (typeof value === "object") return value;
  const inside = /^\{(.*)\}$/.exec(String(value))?.[1];
  return inside === undefined ? [value] : inside === "" ? [] : inside.split(",");
}

/** A group that is repeated can take exponential time, so it is refused. */
function regular(pattern: string, isInsensitive: boolean): RegExp {
  if (pattern.length > PATTERN_MAX || /\)[*+{?]|\\\d/.test(pattern)) throw refused("This regular expression");
  try {
    return new RegExp(pattern, isInsensitive ? "iu" : "u");
  } catch {
    throw refused("This regular expression");
  }
}

function like(pattern: string, isInsensitive: boolean): RegExp {
  if (pattern.length > PATTERN_MAX) throw refused("This pattern");
  const source = pattern
    .replace(/\\?[\s\S]/gu, (part) =>
      part === "%"
        ? "[^]*"
        : part === "_"
          ? "[^]"
          : (part.at(-1) ?? "").replace(/[$()*+.?[\\\]^{|}/-]/, "\\$&"),
    )
    .replace(/(\[\^\]\*)+/g, "[^]*");
  return new RegExp(`^${source}$`, isInsensitive ? "i" : "");
}
