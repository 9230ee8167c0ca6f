import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { Client } from "pg";
import { FieldReader } from "#src/pgwire/frames.js";
import { type PgServer, type PgServerOptions, servePostgres } from "#src/pgwire/index.js";
import { decodeNumeric, encodeNumeric } from "#src/pgwire/numeric.js";
import { sessionStatement, splitStatements } from "#src/pgwire/statements.js";
import fc from "../properties.js";
import { refused } from "../refused.js";
import { waitFor } from "../waits.js";
import { EvaluatedTables } from "./evaluated.js";

const SCHEMA = { t: [{ name: "id", type: "int4" as const, nullable: false }] };

async function serving<T>(
  use: (server: PgServer, catalog: EvaluatedTables) => Promise<T>,
  limits?: PgServerOptions["limits"],
): Promise<T> {
  const catalog = new EvaluatedTables(SCHEMA);
  catalog.tables = { t: [{ id: 1 }, { id: 2 }, { id: 3 }] };
  const server = await servePostgres({ catalog, ...(limits === undefined ? {} : { limits }) });
  try {
    return await use(server, catalog);
  } finally {
    await server.close();
  }
}

function clientOf({ port }: PgServer, { password }: EvaluatedTables): Client {
  const client = new Client({ host: "127.0.0.1", port, user: "ada", password });
  client.on("error", () => {});
  return client;
}

/** Everything that a server says until it hangs up. */
async function heard(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  await waitFor("until the server hangs up", once(socket, "close"));
  return Buffer.concat(chunks);
}

describe("a connection", () => {
  test("whose bytes are not the protocol is told so, or hung up on, and others go on", async () => {
    await serving(async (server, catalog) => {
      const good = clientOf(server, catalog);
      await good.connect();
      const property = fc.asyncProperty(fc.uint8Array({ minLength: 8, maxLength: 400 }), async (bytes) => {
        const socket = connect(server.port, "127.0.0.1");
        socket.end(bytes);
        const answer = (await heard(socket)).toString("latin1");
        assert.ok(/^(|[NS]*|R.*|[NSR\0-\x20]*E.*08P01.*)$/s.test(answer), JSON.stringify(answer));
        assert.equal((await good.query("select count(*) as n from t")).rows[0].n, "3");
      });
      await fc.assert(property, { numRuns: 40 });
      await good.end();
    });
  });

  test("that announces a message larger than the limit is ended with HW-4014", async () => {
    await serving(
      async (server, catalog) => {
        const client = clientOf(server, catalog);
        await client.connect();
        await assert.rejects(client.query(`select id from t where id = 1 -- ${"x".repeat(5000)}`), /HW-4014/);
      },
      { messageBytes: 4096 },
    );
  });

  test("that asks for more prepared statements than it may keep is refused those, and goes on", async () => {
    await serving(
      async (server, catalog) => {
        const client = clientOf(server, catalog);
        await client.connect();
        const prepare = (name: string) => client.query({ name, text: "select id from t where id = 1" });
        const failures: string[] = [];
        for (let i = 0; i < 60; i++) await prepare(`s${i}`).catch(({ code }) => failures.push(code));
        assert.deepEqual([...new Set(failures)], ["53200"]);
        assert.equal((await client.query("select id from t where id = 2")).rows.length, 1);
        await client.query("deallocate all");
        await client.end();
      },
      { keptBytes: 1000 },
    );
  });

  test("ends when its token is revoked", async () => {
    await serving(async (server, catalog) => {
      const client = clientOf(server, catalog);
      await client.connect();
      const ended = waitFor(
        "until the client is disconnected",
        new Promise((end) => client.once("end", end)),
      );
      catalog.revocation.abort();
      await ended;
    });
  });

  test("that is one too many is closed", async () => {
    await serving(
      async (server, catalog) => {
        const client = clientOf(server, catalog);
        await client.connect();
        assert.equal((await heard(connect(server.port, "127.0.0.1"))).length, 0);
        await client.end();
      },
      { connections: 1 },
    );
  });

  test("beyond this machine needs TLS, because passwords are tokens", async () => {
    const catalog = new EvaluatedTables(SCHEMA);
    await refused(servePostgres({ catalog, host: "0.0.0.0" }), "HW-4020", "0.0.0.0", "TLS");
  });

  test("in a transaction that has failed does nothing until it is rolled back", async () => {
    await serving(async (server, catalog) => {
      const client = clientOf(server, catalog);
      await client.connect();
      await client.query("begin");
      await assert.rejects(client.query("select x from t"));
      await assert.rejects(client.query("select id from t"), { code: "25P02" });
      assert.equal((await client.query("commit")).command, "ROLLBACK");
      assert.equal((await client.query("select id from t")).rows.length, 3);
      await client.end();
    });
  });

  test("can fetch the rows of a portal a few at a time", async () => {
    await serving(async (server, catalog) => {
      const client = clientOf(server, catalog);
      await client.connect();
      const inPortions = { text: "select id from t order by id limit 9", values: [], rows: 2 };
      const { rows } = await client.query<{ id: number }>(inPortions);
      assert.deepEqual(rows, [{ id: 1 }, { id: 2 }, { id: 3 }]);
      await client.end();
    });
  });
});

describe("texts of clients", () => {
  test("are cut at semicolons, and nowhere else", () => {
    const piece = fc.constantFrom(
      "select 1",
      "'a;b'",
      "'it''s;'",
      "E'\\';'",
      '"x;""y"',
      "/* a; /* b; */ c; */",
      "$$;$$",
      "$q$;$$;$q$",
      "-- c;\n",
      "a-b",
      "a/b",
    );
    const property = fc.property(fc.array(fc.array(piece, { minLength: 1, maxLength: 4 })), (statements) => {
      const texts = statements.map((pieces) => pieces.join(" "));
      const isEmpty = (text: string) => /^(\s|-- c;\s*\n|\/\* a; \/\* b; \*\/ c; \*\/)*$/.test(`${text}\n`);
      const expected = texts.map((text) => text.trim()).filter((text) => !isEmpty(text));
      assert.deepEqual(splitStatements(texts.join(";")), expected);
    });
    fc.assert(property);
  });

  test("about the session are told from queries", () => {
    assert.equal(sessionStatement("select id from t"), null);
    assert.deepEqual(sessionStatement("/* x */ SELECT pg_catalog.version()"), {
      kind: "value",
      name: "version",
      of: "version",
    });
    assert.deepEqual(sessionStatement('set "a" to 1'), { kind: "set", tag: "SET" });
    assert.deepEqual(sessionStatement("show   transaction isolation level"), {
      kind: "show",
      name: "transaction isolation level",
    });
  });
});

describe("bytes", () => {
  test("of decimals come back as they were", () => {
    const decimal = fc.tuple(
      fc.bigInt(),
      fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 30 }),
    );
    const property = fc.property(decimal, ([whole, fraction]) => {
      const text = fraction === "" ? String(whole) : `${whole}.${fraction}`;
      assert.equal(decodeNumeric(encodeNumeric(text)), text);
    });
    fc.assert(property);
    for (const text of ["NaN", "Infinity", "-Infinity", "0", "0.000"])
      assert.equal(decodeNumeric(encodeNumeric(text)), text);
  });

  test("that end in the middle of a field are refused", () => {
    assert.throws(() => new FieldReader(Buffer.from([0, 1])).int32(), /beyond the end/);
    assert.throws(() => new FieldReader(Buffer.from("abc")).text(), /without its end/);
  });
});
