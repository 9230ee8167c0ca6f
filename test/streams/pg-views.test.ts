import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { StreamService } from "headwater/streams";
import { Client } from "pg";
import { type PgServer, servePostgres } from "#src/pgwire/index.js";
import { StreamsCatalog } from "#src/streams/pg/index.js";
import { needed } from "../needed.js";
import { waitFor } from "../waits.js";

let service: StreamService;
let catalog: StreamsCatalog;
let server: PgServer;
let token: string;

before(async () => {
  service = await StreamService.open();
  catalog = new StreamsCatalog(service);
  server = await servePostgres({ catalog });
  token = await service.addToken("default", ["read"]);
  const streams = await service.tenant("default");
  await streams.define("CREATE STREAM clicks (who text NOT NULL, page text NOT NULL, ms bigint)");
  await streams.define("CREATE TABLE prices (item text PRIMARY KEY, cents bigint)");
  await streams.define(
    "CREATE MATERIALIZED VIEW visitors AS SELECT who, count(*) AS clicks, max(ms) AS slowest FROM clicks GROUP BY who",
  );
  await streams.registerQuery("changes", "SELECT page, count(*) AS n FROM clicks GROUP BY page EMIT CHANGES");
  await streams.pushEvents("prices", [
    { item: "pear", cents: 2 },
    { item: "fig", cents: 9 },
  ]);
  await streams.pushEvents("clicks", [
    { who: "ada", page: "/", ms: 250 },
    { who: "ada", page: "/pears", ms: 20 },
    { who: "bob", page: "/" },
  ]);
});

after(async () => {
  catalog.close();
  await server.close();
  await service.close();
});

async function connected(password = token, user = "default"): Promise<Client> {
  const client = new Client({ host: "127.0.0.1", port: server.port, user, database: "any", password });
  client.on("error", () => {});
  await client.connect();
  return client;
}

describe("psql", () => {
  const [, session = ""] = /```console\n(.*?)```/s.exec(readFileSync("docs/views.md", "utf8")) ?? [];
  const steps = session.split(/^\$ /m).slice(1);
  assert.ok(steps.length > 3);
  for (const step of steps) {
    const [, command = "", output = ""] = /^psql .* -c '(.*?)'\n(.*)$/s.exec(step) ?? [];
    test(`answers ${command} as docs/views.md shows it`, async () => {
      const file = await needed(["psql"], "postgresql-client");
      const args = [
        "-X",
        "-h",
        "127.0.0.1",
        "-p",
        String(server.port),
        "-U",
        "default",
        "default",
        "-c",
        command,
      ];
      const env = { ...process.env, PGPASSWORD: token, LC_ALL: "C" };
      const shown = await promisify(execFile)(file, args, { env }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      assert.equal(`${shown.stdout}${shown.stderr}`.trim(), output.trim());
    });
  }
});

describe("a driver", () => {
  test("prepares statements with parameters over tables and views, and gets typed values", async () => {
    const client = await connected();
    const asked = {
      name: "by",
      text: "select item, cents from prices where cents > $1 and item <> $2 order by 1",
    };
    const first = await client.query({ ...asked, values: [1, "fig"] });
    assert.deepEqual(first.rows, [{ item: "pear", cents: "2" }]);
    assert.deepEqual((await client.query({ ...asked, values: [5, ""] })).rows, [{ item: "fig", cents: "9" }]);
    assert.deepEqual(
      first.fields.map(({ dataTypeID }) => dataTypeID),
      [25, 20],
    );
    await client.end();
  });

  test("finds schemas, tables, columns, types and keys by the queries that Grafana and graphical tools send", async () => {
    const client = await connected();
    const rows = async (text: string, values: unknown[] = []) =>
      (await client.query<unknown[]>({ text, values, rowMode: "array" })).rows;
    const quoted = `SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
        FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
        string_to_array(current_setting('search_path'),',') s) THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
        FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1`;
    assert.deepEqual(await rows(quoted), [["clicks"], ["prices"], ["visitors"]]);
    assert.deepEqual(
      await rows(
        'SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE quote_ident(table_name) = \'visitors\' ORDER BY ordinal_position',
      ),
      [
        ["who", "text"],
        ["clicks", "bigint"],
        ["slowest", "bigint"],
      ],
    );
    const keyed = `SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = 'prices'::regclass AND i.indisprimary`;
    assert.deepEqual(await rows(keyed), [["item", "text"]]);
    const listed = `SELECT n.nspname, c.relname, c.relkind, obj_description(c.oid) FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
        WHERE n.oid = c.relnamespace AND n.nspname = $1 AND c.relkind IN ('r', 'm') AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname`;
    assert.deepEqual(await rows(listed, ["public"]), [
      ["public", "prices", "r", null],
      ["public", "visitors", "m", null],
    ]);
    assert.deepEqual(
      await rows("SELECT typname FROM pg_type WHERE oid = 1700 OR typname LIKE 'time%' ORDER BY 1"),
      [["numeric"], ["timestamp"], ["timestamptz"]],
    );
    assert.deepEqual(await rows("SELECT count(*), max(relname) FROM pg_class WHERE relkind <> 'i'"), [
      ["3", "visitors"],
    ]);
    await client.end();
  });

  test("is told what it cannot ask, by PostgreSQL's codes, and goes on", async () => {
    const client = await connected();
    const codeOf = (text: string) =>
      client.query(text).then(
        () => "",
        ({ code }: { code: string }) => code,
      );
    assert.equal(await codeOf("select 1 / (cents - 9) from prices"), "22000");
    assert.equal(await codeOf("select * from nothing"), "42P01");
    assert.equal(await codeOf("select * from changes"), "55000");
    assert.equal(await codeOf("insert into prices values ('x', 1)"), "0A000");
    assert.equal(await codeOf("select pg_read_file('/etc/passwd')"), "0A000");
    assert.equal(await codeOf("select relname from pg_class where relname ~ '(a*)*$'"), "0A000");
    assert.equal((await client.query("select count(*) as n from prices")).rows[0].n, "2");
    await client.end();
  });
});

describe("a PostgreSQL client", () => {
  test("gets in with a token of the tenant that may read, and with nothing else", async () => {
    const pusher = await service.addToken("default", ["push"]);
    const other = await service.addToken("zoo", ["admin"]);
    for (const [password, user] of [
      [pusher, "default"],
      [other, "default"],
      [token, "zoo"],
      ["", "default"],
      [`${token}x`, "default"],
    ])
      await assert.rejects(connected(password, user), { code: "28P01" });
  });

  test("sees its own tenant alone", async () => {
    const client = await connected(await service.addToken("zoo", ["read"]), "zoo");
    assert.deepEqual((await client.query("select relname from pg_catalog.pg_class")).rows, []);
    await assert.rejects(client.query("select * from prices"), (error: Error) => {
      assert.doesNotMatch(error.message, /visitors|clicks/);
      return /There is no table prices/.test(error.message);
    });
    await client.end();
  });

  test("is hung up on when its token is revoked", async () => {
    const short = await service.addToken("default", ["read"]);
    const client = await connected(short);
    const ended = new Promise<void>((resolve) => client.on("end", () => resolve()));
    await service.revokeToken("default", (await service.granted(short))?.id ?? "");
    await waitFor("until the server hangs up", ended);
  });
});
