import { HeadwaterError } from "../errors.js";
import type { CatalogReader, DescribedQuery, Result, ResultColumn } from "./catalog.js";
import { BrokenProtocol, type ClientFrame, FieldReader } from "./frames.js";
import type { Output } from "./output.js";
import * as reply from "./replies.js";
import { type SessionStatement, sessionStatement, splitStatements } from "./statements.js";
import { decodeParameter, hasBinary, oidOf, type ValueFormat } from "./types.js";

/** What a connection may keep: prepared statements and portals count with the bytes of their texts and parameters. */
export interface SessionLimits {
  readonly keptBytes: number;
}

interface Statement {
  readonly sql: string;
  readonly session: SessionStatement | null;
  readonly described: DescribedQuery;
}

interface Portal {
  readonly statement: Statement;
  readonly parameters: readonly (string | null)[];
  readonly formats: readonly ValueFormat[];
  readonly bytes: number;
  /** The rows that were not sent yet, once it was executed. */
  rows: Iterator<readonly (string | null)[]> | null;
  sent: number;
}

const NO_COLUMNS: DescribedQuery = { columns: [], parameters: [] };

/**
 * The queries of one signed-in client. With the simple protocol a message is a whole text; with the extended one a client
 * prepares statements, binds parameters to them and executes portals, and after an error everything up to the next Sync
 * is skipped. Transactions are accepted and mean nothing: each query reads one consistent state, and nothing can be written.
 */
export class PgSession {
  readonly #statements = new Map<string, Statement>();
  readonly #portals = new Map<string, Portal>();
  #keptBytes = 0;
  #transaction: reply.Transaction = "I";
  #isSkipping = false;

  constructor(
    readonly reader: CatalogReader,
    readonly output: Output,
    readonly about: { readonly user: string; readonly database: string; readonly version: string },
    readonly settings: ReadonlyMap<string, string>,
    readonly limits: SessionLimits,
  ) {}

  /** False when the client says goodbye. */
  async take({ kind, body }: ClientFrame): Promise<boolean> {
    if (kind === "X") return false;
    if (kind === "S") {
      this.#isSkipping = false;
      if (this.#transaction === "I") this.#closePortals();
      await this.output.write(reply.readyForQuery(this.#transaction));
      return true;
    }
    if (this.#isSkipping) return true;
    try {
      if (kind === "Q") await this.#simple(new FieldReader(body).text());
      else await this.#extended(kind, new FieldReader(body));
    } catch (error) {
      if (error instanceof BrokenProtocol) throw error;
      await this.output.write(reply.failed(failureOf(error)));
      if (this.#transaction === "T") this.#transaction = "E";
      if (kind === "Q") await this.output.write(reply.readyForQuery(this.#transaction));
      else this.#isSkipping = true;
    }
    return true;
  }

  async #simple(text: string): Promise<void> {
    const statements = splitStatements(text);
    if (statements.length === 0) await this.output.write(reply.emptyQuery);
    for (const sql of statements) {
      const statement = await this.#prepared(sql, false);
      await this.#execute({ statement, parameters: [], formats: [], bytes: 0, rows: null, sent: 0 }, 0, true);
    }
    await this.output.write(reply.readyForQuery(this.#transaction));
  }

  async #extended(kind: string, fields: FieldReader): Promise<void> {
    switch (kind) {
      case "P":
        return this.#parse(fields);
      case "B":
        return this.#bind(fields);
      case "D":
        return this.#describe(fields);
      case "E":
        return this.#execute(this.#portal(fields.text()), fields.int32(), false);
      case "C": {
        const what = fields.letter();
        if (what === "S") this.#forget(fields.text());
        else this.#close(fields.text());
        return this.output.write(reply.closeComplete);
      }
      case "H":
        return this.output.flush();
      case "d":
      case "c":
      case "f":
        return; // left over from a COPY that was refused
      default:
        throw new BrokenProtocol(`a message of the unknown kind ${JSON.stringify(kind)}`);
    }
  }

  async #parse(fields: FieldReader): Promise<void> {
    const [name, sql] = [fields.text(), fields.text()];
    const [statement, ...more] = splitStatements(sql);
    if (more.length > 0) throw sqlError("42601", "cannot insert multiple commands into a prepared statement");
    if (name === "") this.#forget("");
    else if (this.#statements.has(name))
      throw sqlError("42P05", `prepared statement "${name}" already exists`);
    const prepared = await this.#prepared(statement ?? "", true);
    this.#keep(prepared.sql.length);
    this.#statements.set(name, prepared);
    await this.output.write(reply.parseComplete);
  }

  async #prepared(sql: string, describes: boolean): Promise<Statement> {
    const session = sql === "" ? null : sessionStatement(sql);
    if (session !== null) return { sql, session, described: { columns: columnsOf(session), parameters: [] } };
    const described = describes && sql !== "" ? await this.reader.describe(sql) : NO_COLUMNS;
    return { sql, session, described };
  }

  async #bind(fields: FieldReader): Promise<void> {
    const [name, source] = [fields.text(), fields.text()];
    const statement = this.#statements.get(source);
    if (statement === undefined) throw sqlError("26000", `prepared statement "${source}" does not exist`);
    const formatsIn = fields.list(formatOf);
    const types = statement.described.parameters;
    const values = fields.list((each) => {
      const length = each.int32();
      return length < 0 ? null : each.bytes(length);
    });
    if (values.length !== types.length)
      throw sqlError("08P01", `the query has ${types.length} parameters, and ${values.length} came`);
    const parameters = values.map((value, i) =>
      value === null ? null : decodeParameter(value, types[i] ?? "text", chosen(formatsIn, i)),
    );
    const formats = fields.list(formatOf);
    this.#checkFormats(statement.described.columns, formats);
    if (name !== "" && this.#portals.has(name)) throw sqlError("42P03", `portal "${name}" already exists`);
    this.#close(name);
    const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 64);
    this.#keep(bytes);
    this.#portals.set(name, { statement, parameters, formats, bytes, rows: null, sent: 0 });
    await this.output.write(reply.bindComplete);
  }

  #checkFormats(columns: readonly ResultColumn[], formats: readonly ValueFormat[]): void {
    for (const [i, { name, type }] of columns.entries())
      if (chosen(formats, i) === "binary" && !hasBinary(type))
        throw sqlError("0A000", `the column ${name} (${type}) has no binary form here; ask for text`);
  }

  async #describe(fields: FieldReader): Promise<void> {
    const what = fields.letter();
    const name = fields.text();
    if (what === "S") {
      const statement = this.#statements.get(name);
      if (statement === undefined) throw sqlError("26000", `prepared statement "${name}" does not exist`);
      const { columns, parameters } = statement.described;
      await this.output.write(reply.parameterDescription(parameters.map(oidOf)));
      return this.#describeRows(columns, []);
    }
    const { statement, formats } = this.#portal(name);
    return this.#describeRows(statement.described.columns, formats);
  }

  #describeRows(columns: readonly ResultColumn[], formats: readonly ValueFormat[]): Promise<void> {
    if (columns.length === 0) return this.output.write(reply.noData);
    return this.output.write(reply.rowDescription(columns, (i) => chosen(formats, i)));
  }

  async #execute(portal: Portal, rowsMax: number, describes: boolean): Promise<void> {
    const { statement } = portal;
    if (statement.sql === "") return this.output.write(reply.emptyQuery);
    if (
      this.#transaction === "E" &&
      statement.session?.kind !== "rollback" &&
      statement.session?.kind !== "commit"
    )
      throw sqlError(
        "25P02",
        "current transaction is aborted, commands ignored until end of transaction block",
      );
    const { session } = statement;
    if (session !== null && columnsOf(session).length === 0)
      return this.output.write(reply.commandComplete(this.#aboutSession(session)));
    const result: Result =
      session === null
        ? portal.rows === null
          ? await this.reader.read(statement.sql, portal.parameters)
          : { columns: statement.described.columns, rows: [] }
        : { columns: columnsOf(session), rows: [[this.#valueOf(session)]] };
    const columns = describes ? result.columns : statement.described.columns;
    const format = (i: number) => chosen(portal.formats, i);
    if (describes) await this.output.write(reply.rowDescription(columns, format));
    portal.rows ??= result.rows[Symbol.iterator]();
    for (let count = 0; rowsMax <= 0 || count < rowsMax; count++) {
      const next = portal.rows.next();
      if (next.done === true) {
        const tag = session?.kind === "show" ? "SHOW" : `SELECT ${portal.sent}`;
        return this.output.write(reply.commandComplete(tag));
      }
      await this.output.write(reply.dataRow(next.value, columns, format));
      portal.sent++;
    }
    return this.output.write(reply.portalSuspended);
  }

  /** Carries out a statement that gives no rows, and says its tag. */
  #aboutSession(statement: SessionStatement): string {
    switch (statement.kind) {
      case "begin":
        this.#transaction = "T";
        return "BEGIN";
      case "commit":
      case "rollback": {
        const hasFailed = this.#transaction === "E";
        this.#transaction = "I";
        this.#closePortals();
        return statement.kind === "rollback" || hasFailed ? "ROLLBACK" : "COMMIT";
      }
      case "deallocate":
        for (const name of statement.name === null ? [...this.#statements.keys()] : [statement.name])
          this.#forget(name);
        return statement.name === null ? "DEALLOCATE ALL" : "DEALLOCATE";
      case "set":
        return statement.tag;
      default:
        return "SELECT 1";
    }
  }

  #valueOf(statement: SessionStatement): string | null {
    if (statement.kind === "show") {
      const value = this.settings.get(statement.name);
      if (value === undefined)
        throw sqlError("42704", `unrecognized configuration parameter "${statement.name}"`);
      return value;
    }
    if (statement.kind !== "value") return null;
    const { user, database, version } = this.about;
    return { version, database, user, schema: "public" }[statement.of];
  }

  #portal(name: string): Portal {
    const portal = this.#portals.get(name);
    if (portal === undefined) throw sqlError("34000", `portal "${name}" does not exist`);
    return portal;
  }

  #keep(bytes: number): void {
    if (this.#keptBytes + bytes > this.limits.keptBytes)
      throw sqlError(
        "53200",
        `this connection keeps ${this.limits.keptBytes} bytes of prepared statements and parameters already`,
        "Deallocate statements that are not needed any more.",
      );
    this.#keptBytes += bytes;
  }

  #forget(name: string): void {
    const statement = this.#statements.get(name);
    if (statement === undefined) return;
    this.#statements.delete(name);
    this.#keptBytes -= statement.sql.length;
  }

  #close(name: string): void {
    const portal = this.#portals.get(name);
    if (portal === undefined) return;
    this.#portals.delete(name);
    this.#keptBytes -= portal.bytes;
  }

  #closePortals(): void {
    for (const name of [...this.#portals.keys()]) this.#close(name);
  }
}

function columnsOf(statement: SessionStatement): readonly ResultColumn[] {
  return statement.kind === "show" || statement.kind === "value"
    ? [{ name: statement.name, type: "text" }]
    : [];
}

function formatOf(fields: FieldReader): ValueFormat {
  return fields.int16() === 1 ? "binary" : "text";
}

/** No format means text, one means that all have it. */
function chosen(formats: readonly ValueFormat[], index: number): ValueFormat {
  return (formats.length === 1 ? formats[0] : formats[index]) ?? "text";
}

/** An error whose kind only PostgreSQL's clients have a name for. */
class SqlError extends Error {
  constructor(
    readonly sqlState: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export function sqlError(sqlState: string, message: string, hint?: string): Error {
  return new SqlError(sqlState, message, hint);
}

/** PostgreSQL's codes for errors of queries; every other error of ours is one of the system. */
const SQL_STATES: Readonly<Record<string, string>> = {
  "HW-5101": "42601",
  "HW-5102": "0A000",
  "HW-5103": "42P01",
  "HW-5104": "42804",
  "HW-5401": "42P01",
  "HW-5410": "55000",
  "HW-5511": "22000",
  "HW-5512": "53400",
};

export function failureOf(error: unknown): reply.ErrorReply {
  if (error instanceof SqlError) {
    const { sqlState, message, hint } = error;
    return { severity: "ERROR", sqlState, message, ...(hint === undefined ? {} : { hint }) };
  }
  if (error instanceof HeadwaterError) {
    const hint = `headwater explain ${error.code} tells more.`;
    return { severity: "ERROR", sqlState: SQL_STATES[error.code] ?? "58000", message: error.message, hint };
  }
  return {
    severity: "ERROR",
    sqlState: "XX000",
    message: "The query failed inside the server; its log has the reason.",
  };
}
