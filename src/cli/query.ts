import { once } from "node:events";
import { HeadwaterError } from "../errors.js";
import type { ColumnSpec, ColumnType } from "../streams/columns/index.js";
import type { Query } from "../streams/operators/index.js";
import type { Format, writerOf } from "../streams/outputs/index.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused, unreadable } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";
import type { CsvOptions, InputFormat, QueryInput } from "./query-input.js";
import { paint, type Terminal } from "./terminal.js";

const FORMATS: readonly Format[] = ["table", "csv", "json"];
const INPUTS: readonly InputFormat[] = ["csv", "ndjson"];
const TYPES: readonly ColumnType[] = ["int", "float", "bool", "text", "timestamp", "json"];
const PROGRESS_MS = 1000;

export const query: CliCommand = {
  name: "query",
  operands: ["SQL"],
  summary: "run one SQL query over a file, or over stdin",
  details:
    "The file is a table of the name that the file has without its ending: `SELECT … FROM clicks` for clicks.csv. CSV and " +
    "NDJSON are taken, also compressed with gzip. The columns and their types are found in the first megabyte; a later " +
    "record that does not fit is refused with its line, and --types says what a column is. SQL is PostgreSQL's " +
    "(docs/query.md). Rows that an expression refuses, such as a division by zero, are left out, counted, and make the exit code 1.",
  options: {
    from: { value: "FILE", help: "what to read; - is stdin" },
    name: { value: "NAME", help: "the name of the table in the query" },
    input: { value: "csv|ndjson", help: "what the file is, if its name does not say it" },
    types: { value: "COLUMN=TYPE,…", help: `the types of columns: ${TYPES.join(", ")}` },
    delimiter: {
      value: "CHARACTER",
      help: "what stands between fields of CSV (a comma; a tab in .tsv files)",
    },
    functions: { value: "FILE", help: "a module that declares functions for the query (docs/functions.md)" },
    "no-header": { help: "the first line of the CSV is a record; columns are column1, column2…" },
    format: { value: FORMATS.join("|"), help: "how results are written (table; json with --json)" },
  },
  async run(args, terminal) {
    const options = optionsOf(args);
    if (options.functions !== null) await loadModule(findProgram(options.functions, process.cwd()));
    const { openInput } = await import("./query-input.js");
    let input: QueryInput;
    try {
      input = await openInput(options.from, options.input);
    } catch (error) {
      throw unreadable(query, options.from, error);
    }
    return await answer(options, options.name === null ? input : { ...input, name: options.name }, terminal);
  },
};

interface QueryOptions {
  readonly sql: string;
  readonly from: string;
  readonly name: string | null;
  readonly input: InputFormat | null;
  readonly types: ReadonlyMap<string, ColumnSpec["type"]>;
  readonly csv: CsvOptions;
  readonly format: Format;
  readonly functions: string | null;
}

async function answer(options: QueryOptions, input: QueryInput, terminal: Terminal): Promise<number> {
  const { readerOf, schemaOf } = await import("./query-input.js");
  const { planQuery } = await import("../streams/sql/index.js");
  const { startQuery } = await import("../streams/operators/index.js");
  const outputs = await import("../streams/outputs/index.js");
  const schema = schemaOf(input, options.csv, options.types);
  const unknown = [...options.types.keys()].find((name) => !schema.some((spec) => spec.name === name));
  if (unknown !== undefined)
    throw misused(query, `--types names the column ${unknown}, which ${input.name} does not have.`);
  const plan = await planQuery(options.sql, { [input.name]: schema });
  const writer = outputs.writerOf(options.format, plan.columns);
  const running = startQuery(plan, (batch) => print(writer.lines(batch), terminal));
  try {
    await feed(running, input, readerOf(input, schema, options.csv), terminal);
  } catch (error) {
    // A disk or a compressed file can fail in the middle.
    throw error instanceof HeadwaterError || !isSystemError(error)
      ? error
      : unreadable(query, options.from, error);
  }
  running.end();
  print(writer.end(), terminal);
  const { count, first } = running.errors;
  if (count === 0) return 0;
  const rows = count === 1 ? "One row was" : `${count} rows were`;
  terminal.say(
    `${paint(terminal, "yellow", "incomplete")}: ${rows} left out; the first because of: ${first?.message}.`,
  );
  return 1;
}

function print(lines: ReturnType<ReturnType<typeof writerOf>["lines"]>, terminal: Terminal): void {
  if (lines.length > 0) terminal.out(lines.join("\n"));
}

/** Piece by piece: the next is read when what came of the last is on its way. */
async function feed(
  running: Query,
  input: QueryInput,
  reader: ReturnType<typeof import("./query-input.js").readerOf>,
  terminal: Terminal,
): Promise<void> {
  const began = performance.now();
  let [rows, said] = [0, 0];
  let rest: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer, isLast: boolean) => {
    const { batch, used } = reader.read(bytes, isLast);
    rows += batch.rows;
    if (batch.rows > 0) running.push(input.name, batch);
    return bytes.subarray(used);
  };
  for await (const piece of input.pieces) {
    rest = take(rest.length === 0 ? piece : Buffer.concat([rest, piece]), false);
    if (running.isDone) return;
    if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
    const seconds = Math.floor((performance.now() - began) / PROGRESS_MS);
    if (seconds > said && process.stderr.isTTY) terminal.say(paint(terminal, "dim", progressOf(input, rows)));
    said = seconds;
  }
  if (rest.length > 0) take(rest, true);
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "errno" in error;
}

function progressOf({ progress: { total, read } }: QueryInput, rows: number): string {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  const share =
    total === null || total === 0 ? "" : ` of ${megabytes(total)} (${Math.floor((100 * read) / total)} %)`;
  return `${megabytes(read)}${share}, ${rows.toLocaleString("en")} rows`;
}

function optionsOf({ operands: [sql = ""], values, flags }: Arguments): QueryOptions {
  const from = values.get("from");
  if (from === undefined)
    throw misused(query, "--from FILE is missing: a query reads a file, or stdin with --from -.");
  const format = oneOf("format", values.get("format") ?? (flags.has("json") ? "json" : "table"), FORMATS);
  const input = values.get("input");
  const delimiter = values.get("delimiter") ?? (/\.tsv(\.gz)?$/i.test(from) ? "\t" : ",");
  if (!/^[\t -~]$/.test(delimiter) || delimiter === '"')
    throw misused(query, "--delimiter is one ASCII character, and not a quote.");
  return {
    sql,
    from,
    format,
    name: values.get("name") ?? null,
    input: input === undefined ? null : oneOf("input", input, INPUTS),
    types: typesOf(values.get("types") ?? ""),
    functions: values.get("functions") ?? null,
    csv: { header: !flags.has("no-header"), delimiter: delimiter.charCodeAt(0) },
  };
}

function oneOf<T extends string>(option: string, written: string, known: readonly T[]): T {
  const meant = known.find((each) => each === written);
  if (meant !== undefined) return meant;
  throw misused(query, `--${option} is ${known.join(", ")}, not "${written}".${didYouMean(written, known)}`);
}

function typesOf(written: string): ReadonlyMap<string, ColumnSpec["type"]> {
  const types = new Map<string, ColumnSpec["type"]>();
  for (const pair of written.split(",").filter((each) => each.trim() !== "")) {
    const [name = "", type = ""] = pair.split("=").map((each) => each.trim());
    types.set(name, oneOf("types", type, TYPES));
  }
  return types;
}
