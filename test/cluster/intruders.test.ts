import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { run } from "headwater";
import { memberPart } from "#src/cluster/dial.js";
import { statusOf } from "#src/cluster/index.js";
import { connectLink, type Hello, LINK_VERSION, Link, type LinkAddress } from "#src/cluster/links.js";
import { outlineOf } from "#src/host/program-module.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import { Random } from "#src/random.js";
import { encode } from "#src/state/codec.js";
import { NatsServers, type NatsServersOptions } from "../nats-servers.js";
import { needed } from "../needed.js";
import { waitFor } from "../waits.js";
import Bank from "./programs/bank.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ count: 1 });
});
after(() => servers.stop());

let names = 0;
const newCluster = () => `${servers.address()}/intruders${++names}?replicas=1`;

async function member(t: TestContext, journal: string, name: string) {
  const service = await run(Bank, { journal, member: { name } });
  t.after(() => service.stop({ graceMs: 0 }));
  return service;
}

/** What a process finds that has the credentials of the cluster: where its head is, and with which key. */
async function reachedHead(journal: string): Promise<{ address: LinkAddress; log: string }> {
  const head = (await statusOf(journal)).members.find(({ isHead }) => isHead);
  const port = await NatsLog.existing(natsAddress(journal));
  const kept = await port.getPart(memberPart(head?.member ?? ""));
  await port.close();
  return { address: JSON.parse(kept?.bytes.toString() ?? "null") as LinkAddress, log: port.id };
}

/** Says something to a member, and resolves with its answer; null if it closes the link instead. */
async function say(address: LinkAddress, hello: unknown): Promise<{ link: Link<unknown>; answer: unknown }> {
  const link = new Link<unknown>(await connectLink(address));
  const answer = await waitFor(
    "for the answer to a hello",
    new Promise((resolve) => {
      link.listen({ aside: resolve, batch: () => {}, closed: () => resolve(null) });
      link.tell(hello);
    }),
  );
  return { link, answer };
}

describe("a member of a cluster", () => {
  test("refuses another cluster and another version of links with a code, and lets another version of the program in", async (t) => {
    const journal = newCluster();
    const a = await member(t, journal, "a");
    const { address, log } = await reachedHead(journal);
    const hello: Hello = { version: LINK_VERSION, log, member: "x", role: "gateway", epoch: 1, outline: "?" };
    for (const [wrong, code] of [
      [{ log: "another" }, "HW-3106"],
      [{ version: LINK_VERSION + 1 }, "HW-3106"],
      [{ role: "operator", version: 0 }, "HW-3106"],
    ] as const) {
      const { answer, link } = await say(address, { ...hello, ...wrong });
      assert.deepEqual(
        [(answer as { kind: string }).kind, (answer as { code: string }).code],
        ["refused", code],
      );
      link.cut();
    }
    const { answer, link } = await say(address, { ...hello, outline: "Another" });
    assert.equal((answer as { kind: string }).kind, "welcome");
    link.cut();
    assert.equal(await a.root.transfer(1, 2, 1), 1);
  });

  test("goes on for the others, whatever a process sends that was let in", async (t) => {
    const journal = newCluster();
    const a = await member(t, journal, "a");
    const b = await member(t, journal, "b");
    assert.equal(await b.root.transfer(1, 2, 1), 1);
    const hello = await helloOf(journal);
    const random = new Random(20);
    let closed = 0;
    for (let run = 0; run < 60; run++) {
      const link = new Link<unknown>(await connectLink(hello.address));
      let isClosed = false;
      const welcomed = new Promise((resolve) =>
        link.listen({
          aside: resolve,
          batch: () => {},
          closed: () => {
            isClosed = true;
            resolve(null);
          },
        }),
      );
      link.tell({ ...hello.hello, member: `intruder ${run}` });
      assert.equal(((await waitFor("for a welcome", welcomed)) as { kind: string }).kind, "welcome");
      for (let i = random.int(4); i >= 0; i--)
        link.post(random.chance(0.2) ? noise(random) : encode([odd(random)]));
      if (random.chance(0.2)) link.tell(odd(random));
      assert.ok((await b.root.count()) >= 1); // the head is there, and answers
      if (random.chance(0.5)) link.cut();
      else if (isClosed) closed += 1;
      link.cut();
    }
    assert.ok(closed > 0, "some were not understood");
    assert.equal(await a.root.count(), 1);
    assert.equal(await b.root.transfer(1, 2, 1), 2);
  });

  test("listens on the loopback interface only, unless told otherwise", async (t) => {
    const journal = newCluster();
    const before = listeningHere();
    await member(t, journal, "a");
    const { address } = await reachedHead(journal);
    const added = listeningHere().filter((each) => !before.includes(each));
    assert.deepEqual(added, [`127.0.0.1:${address.port}`]);
  });
});

/** What a gateway of this program says. */
async function helloOf(journal: string): Promise<{ address: LinkAddress; hello: Hello }> {
  const { address, log } = await reachedHead(journal);
  const outline = JSON.stringify(outlineOf({ Bank }));
  return { address, hello: { version: LINK_VERSION, log, member: "x", role: "gateway", epoch: 1, outline } };
}

function noise(random: Random): Uint8Array {
  return Uint8Array.from({ length: random.int(400) }, () => random.int(256));
}

/** A message of a gateway in which nothing need be as it should. */
function odd(random: Random): unknown {
  const value = (depth = 0): unknown =>
    random.pick<() => unknown>([
      () => null,
      () => random.pick([-1, 0.5, 2 ** 53, Number.NaN, 1]),
      () => random.pick(["", "Bank", "__proto__", "constructor", "x".repeat(2000)]),
      () => noise(random),
      () => (depth > 2 ? [] : Array.from({ length: random.int(4) }, () => value(depth + 1))),
      () =>
        depth > 2
          ? {}
          : { node: "Bank", path: value(depth + 1), method: value(depth + 1), args: value(depth + 1) },
    ])();
  const call = random.chance(0.5)
    ? value()
    : { node: "Bank", path: [], method: random.pick(["count", "constructor", "toString"]), args: encode([]) };
  const message: Record<string, unknown> = {
    kind: random.pick([
      "ask",
      "once",
      "series",
      "answered",
      "leave",
      "listen",
      "received",
      "unlisten",
      "forget",
      "watch",
      "seen",
      "ping",
      "announce",
      "?",
    ]),
    n: value(),
    call,
    client: value(),
    sentUpTo: value(),
    below: value(),
    request: value(),
    payer: value(),
    number: value(),
    change: value(),
    id: value(),
    changes: value(),
  };
  for (const part of Object.keys(message)) if (random.chance(0.2)) delete message[part];
  return message;
}

/** The ports that this process listens on, with their addresses, as the system says. */
function listeningHere(): string[] {
  const own = new Set(
    readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  return ["tcp", "tcp6"].flatMap((kind) =>
    readFileSync(`/proc/net/${kind}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && own.has(`socket:[${inode}]`))
      .map(([, local = ""]) => {
        const [address = "", port = ""] = local.split(":");
        const shown = address.length > 8 ? address : Buffer.from(address, "hex").reverse().join(".");
        return `${shown}:${Number.parseInt(port, 16)}`;
      }),
  );
}

describe("credentials and TLS of the servers", () => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-credentials-"));
  const file = (name: string, text?: string | Uint8Array) => {
    const path = join(folder, name);
    if (text !== undefined) writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  after(() => rmSync(folder, { recursive: true }));

  const nkey = nkeys.createUser();
  /** The client checks names, and the test has numbers. Headwater checks those. */
  const byName = { checkServerIdentity: () => undefined };
  const certificates = async () => {
    const program = await needed(["openssl"], "openssl");
    const openssl = (...args: string[]) => execFileSync(program, args, { cwd: folder, stdio: "ignore" });
    for (const [name, subject] of [
      ["server", "n0"],
      ["client", "headwater"],
    ] as const) {
      if (name === "server")
        openssl(
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:P-256",
          "-nodes",
          "-keyout",
          "ca.key",
          "-out",
          "ca.pem",
          "-days",
          "2",
          "-subj",
          "/CN=tests",
        );
      file(`${name}.ext`, `subjectAltName=IP:127.0.0.1`);
      openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        `/CN=${subject}`,
      );
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        `${name}.ext`,
        "-out",
        `${name}.pem`,
      );
    }
  };

  interface Case {
    readonly settings: () => string | Promise<string>;
    /** How the test itself gets in. */
    readonly connection: NatsServersOptions["connection"];
    readonly environment: Readonly<Record<string, string>>;
    readonly wrong: Readonly<Record<string, string>>;
    readonly scheme?: "tls";
  }
  const cases: Record<string, Case> = {
    "user and password": {
      settings: () => 'authorization { user: bank, password: "s3cret-p4ss" }',
      connection: { user: "bank", pass: "s3cret-p4ss" },
      environment: { HEADWATER_NATS_USER: "bank", HEADWATER_NATS_PASSWORD: "s3cret-p4ss" },
      wrong: { HEADWATER_NATS_USER: "bank", HEADWATER_NATS_PASSWORD: "wr0ng-s3cret" },
    },
    token: {
      settings: () => 'authorization { token: "s3cret-t0ken" }',
      connection: { token: "s3cret-t0ken" },
      environment: { HEADWATER_NATS_TOKEN: "s3cret-t0ken" },
      wrong: { HEADWATER_NATS_TOKEN: "wr0ng-s3cret" },
    },
    nkey: {
      settings: () => `authorization { users: [ { nkey: ${nkey.getPublicKey()} } ] }`,
      connection: { authenticator: nkeyAuthenticator(nkey.getSeed()) },
      environment: { HEADWATER_NATS_NKEY: file("bank.nk", nkey.getSeed()) },
      wrong: { HEADWATER_NATS_NKEY: file("other.nk", nkeys.createUser().getSeed()) },
    },
    "TLS, with a certificate of each side": {
      settings: async () => {
        await certificates();
        const names = `cert_file: "${file("server.pem")}", key_file: "${file("server.key")}", ca_file: "${file("ca.pem")}"`;
        return `tls { ${names}, verify: true }`;
      },
      connection: {
        tls: { caFile: file("ca.pem"), certFile: file("client.pem"), keyFile: file("client.key"), ...byName },
      },
      environment: {
        HEADWATER_NATS_CA: file("ca.pem"),
        HEADWATER_NATS_CERT: file("client.pem"),
        HEADWATER_NATS_KEY: file("client.key"),
      },
      wrong: { HEADWATER_NATS_CA: file("ca.pem") },
      scheme: "tls",
    },
  };

  for (const [name, { settings, connection, environment, wrong, scheme }] of Object.entries(cases)) {
    test(`are passed on: ${name}`, async (t) => {
      const guarded = await NatsServers.start({ count: 1, settings: await settings(), connection });
      t.after(() => guarded.stop());
      const address = guarded.address().replace("nats", scheme ?? "nats");
      const journal = `${address}/guarded?replicas=1`;
      const within = async <T>(variables: Readonly<Record<string, string>>, act: () => Promise<T>) => {
        Object.assign(process.env, variables);
        try {
          return await act();
        } finally {
          for (const variable of Object.keys(variables)) delete process.env[variable];
        }
      };
      for (const variables of [{}, wrong])
        await within(variables, () =>
          assert.rejects(
            run(Bank, { journal, member: { name: "a" } }),
            (error: Error & { code?: string }) => {
              assert.equal(error.code, "HW-3102");
              assert.doesNotMatch(error.message, /s3cret/); // secrets are not shown
              return true;
            },
          ),
        );
      const service = await within(environment, () => run(Bank, { journal, member: { name: "a" } }));
      assert.equal(await service.root.transfer(1, 2, 1), 1);
      await service.stop();
    });
  }
});
