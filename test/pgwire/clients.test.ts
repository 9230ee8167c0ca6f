import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { Client, type QueryArrayResult } from "pg";
import { type PgServer, servePostgres } from "#src/pgwire/index.js";
import { needed } from "../needed.js";
import fc from "../properties.js";
import { type Postgres, startPostgres } from "../sql/postgres.js";
import { CREATION, insertion, query, rows, SCHEMA } from "../sql/typed-queries.js";
import { EvaluatedTables } from "./evaluated.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 150);

let postgres: Postgres;
let ours: PgServer;
let client: Client;
const catalog = new EvaluatedTables(SCHEMA);

before(async () => {
  postgres = await startPostgres();
  await postgres.client.query(CREATION);
  ours = await servePostgres({ catalog });
  client = new Client(connection());
  await client.connect();
});

after(async () => {
  await client.end();
  await ours.close();
  await postgres.stop();
});

function connection() {
  return { host: "127.0.0.1", port: ours.port, user: "ada", password: catalog.password };
}

type Cells = (string | Buffer | null)[];

/** The columns and cells as they came over the wire, in an order of their own; or the class of the error. */
async function raw(
  asked: Client,
  text: string,
  binary: boolean,
  values: readonly unknown[] = [],
): Promise<unknown> {
  const types = { getTypeParser: () => (value: unknown) => value };
  let result: QueryArrayResult<Cells>;
  try {
    const query = { text, values: [...values], rowMode: "array" as const, types, binary };
    result = await asked.query<Cells>(query);
  } catch (error) {
    return (error as { code?: string }).code?.slice(0, 2);
  }
  const cell = (value: Cells[number]) => (value instanceof Buffer ? value.toString("hex") : value);
  return {
    columns: result.fields.map(({ name, dataTypeID, dataTypeSize }) => ({ name, dataTypeID, dataTypeSize })),
    rows: result.rows.map((row) => JSON.stringify(row.map(cell))).sort(),
  };
}

describe("a PostgreSQL client gets from Headwater the bytes that it gets from PostgreSQL", () => {
  for (const binary of [false, true])
    test(`for random queries over every type, in ${binary ? "binary" : "text"} form`, async () => {
      let answered = 0;
      const property = fc.asyncProperty(query, rows, async (sql, data) => {
        // Types without a binary form here are refused before anything is sent.
        fc.pre(!binary || !/array_agg|interval/.test(sql));
        await postgres.client.query(insertion(data));
        catalog.tables = data;
        const theirs = await raw(postgres.client, sql, binary);
        if (typeof theirs === "string") return; // what is refused, and where, is compared in test/sql
        answered++;
        assert.deepEqual(await raw(client, sql, binary), theirs, sql);
      });
      await fc.assert(property, { numRuns: RUNS });
      assert.ok(answered > RUNS / 3);
    });

  test("for parameters of every type, NULL and not, in text and as the driver sends them", async () => {
    const values = fc.record({
      i: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      k: fc.option(fc.maxSafeInteger()),
      n: fc.option(fc.tuple(fc.maxSafeInteger(), fc.nat(12)).map(([a, b]) => `${a}.${b}`)),
      f: fc.option(fc.double({ noDefaultInfinity: true, noNaN: true })),
      s: fc.option(fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"))),
      b: fc.option(fc.boolean()),
      d: fc.option(fc.constantFrom("2024-02-29", "1999-12-31")),
      ts: fc.option(fc.constantFrom("2024-02-29 12:30:45.25", "1969-12-31 23:59:59")),
    });
    await postgres.client.query(
      insertion({ t: [{ id: 1 }], u: [] }).replace("values (1)", "(id) values (1)"),
    );
    catalog.tables = { t: [{ id: 1 }], u: [] };
    const property = fc.asyncProperty(values, fc.boolean(), async (given, binary) => {
      const sql =
        "select $1::int4 as i, $2::int8 as k, $3::numeric as n, $4::float8 as f, $5::text as s, $6::bool as b, $7::date as d, $8::timestamp as ts from t";
      const list = Object.values(given);
      assert.deepEqual(await raw(client, sql, binary, list), await raw(postgres.client, sql, binary, list));
    });
    await fc.assert(property, { numRuns: RUNS });
  });
});

describe("psql", () => {
  const psql = async (...args: string[]) => {
    const file = await needed(["psql"], "postgresql-client");
    const where = ["-h", "127.0.0.1", "-p", String(ours.port), "-U", "ada", "-d", "views", "-X", "-A", "-t"];
    const env = { ...process.env, PGPASSWORD: catalog.password };
    return (await promisify(execFile)(file, [...where, ...args], { env })).stdout;
  };

  test("reads a table, several statements in one text, and a prepared statement", async () => {
    catalog.tables = {
      t: [
        { id: 1, s: "it's; here" },
        { id: 2, n: "1.50" },
      ],
      u: [],
    };
    assert.equal(await psql("-c", "select id, s, n from t order by id limit 9"), "1|it's; here|\n2||1.50\n");
    assert.equal(
      await psql("-c", "select 'a;b' as x from t where id = 1; -- one; more\nselect id from t where id = 2"),
      "a;b\n2\n",
    );
    assert.equal(await psql("-c", "show server_version_num"), "150000\n");
    assert.equal(await psql("-c", "begin; select count(*) from t; commit"), "BEGIN\n2\nCOMMIT\n");
  });

  test("is told what is wrong with a query, by PostgreSQL's code, and with a password", async () => {
    await assert.rejects(psql("-c", "select nothing from t"), /There is no column nothing/i);
    await assert.rejects(psql("-c", "delete from t"), /HW-5102|ERROR/);
    const wrong = { ...connection(), password: "open barley" };
    await assert.rejects(new Client(wrong).connect(), { code: "28P01" });
  });
});
