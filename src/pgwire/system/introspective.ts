import type { Node, ParseResult, SelectStmt } from "libpg-query";
import { loadParser, treeOf } from "../../sql/index.js";
import type { CatalogReader, DescribedQuery, Result } from "../catalog.js";
import { nameOf } from "./expression.js";
import { isKnownFunction } from "./functions.js";
import { type About, knownOf } from "./relations.js";
import { columnsOf, Selects } from "./select.js";
import { textOf } from "./value.js";

/** Most queries name nothing of the system, and are not parsed twice. */
const HINT =
  /\bpg_|information_schema|\bcurrent_|\bsession_user\b|\bversion\b|_privilege\b|_description\b|set_config|to_regclass|quote_ident/i;

/** The same reader, which also answers queries about the relations that it has. */
export function introspective(reader: CatalogReader, about: About): CatalogReader {
  const known = async () => knownOf(about, (await reader.relations?.()) ?? []);
  return {
    revoked: reader.revoked,
    async describe(sql: string): Promise<DescribedQuery> {
      const query = await systemQuery(sql);
      if (query === null) return await reader.describe(sql);
      const parameters = Array.from({ length: parametersOf(query) }, () => "text" as const);
      return { columns: columnsOf(query, await known()), parameters };
    },
    async read(sql, parameters): Promise<Result> {
      const query = await systemQuery(sql);
      if (query === null) return await reader.read(sql, parameters);
      const given = await known();
      const rows = new Selects(given, parameters).rows(query);
      return { columns: columnsOf(query, given), rows: rows.map((row) => row.map(textOf)) };
    },
  };
}

/** `null` for a query that asks for the reader's own relations, or cannot be read: the reader says what is wrong with it. */
async function systemQuery(sql: string): Promise<SelectStmt | null> {
  if (!HINT.test(sql) || sql.includes("\0")) return null;
  await loadParser();
  let statement: Node | undefined;
  try {
    const [first, ...more] = ((await treeOf(sql)) as ParseResult).stmts ?? [];
    statement = more.length > 0 ? undefined : first?.stmt;
  } catch {
    return null;
  }
  if (statement === undefined || !("SelectStmt" in statement)) return null;
  const { relations, functions, ctes } = namesIn(statement);
  const isSystem = relations.every(
    ({ schema, name }) =>
      schema === "pg_catalog" ||
      schema === "information_schema" ||
      (schema === "" && (ctes.has(name) || name.startsWith("pg_"))),
  );
  if (!isSystem) return null;
  return relations.length > 0 || functions.some(isKnownFunction) ? statement.SelectStmt : null;
}

function namesIn(root: Node) {
  const relations: { readonly schema: string; readonly name: string }[] = [];
  const functions: string[] = [];
  const ctes = new Set<string>();
  const look = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    const node = part as Partial<Record<string, unknown>>;
    if ("RangeVar" in node) {
      const { schemaname = "", relname = "" } = node.RangeVar as { schemaname?: string; relname?: string };
      relations.push({ schema: schemaname, name: relname });
    }
    if ("FuncCall" in node) functions.push(nameOf((node.FuncCall as { funcname?: Node[] }).funcname?.at(-1)));
    if ("SQLValueFunction" in node)
      functions.push(
        String((node.SQLValueFunction as { op?: string }).op)
          .replace("SVFOP_", "")
          .toLowerCase(),
      );
    if ("CommonTableExpr" in node) ctes.add((node.CommonTableExpr as { ctename?: string }).ctename ?? "");
    for (const below of Object.values(node)) look(below);
  };
  look(root);
  return { relations, functions, ctes };
}

function parametersOf(root: unknown): number {
  if (typeof root !== "object" || root === null) return 0;
  const own = "ParamRef" in root ? ((root.ParamRef as { number?: number }).number ?? 1) : 0;
  return Math.max(own, ...Object.values(root).map(parametersOf));
}
