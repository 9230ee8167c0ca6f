import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Context, type HeadwaterError, hostsOf, MemoryJournal, run } from "headwater";
import type { Ticket } from "#src/core/event.js";
import { Gates } from "../gates.js";
import Counters from "./programs/counters.js";
import { clock, Puppets, said } from "./puppets.js";

const module = new URL("./programs/counters.ts", import.meta.url).href;
const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = join(root, "dist/cli/main.js");

let gates = new Gates();

class Room extends Context<number> {
  async knock() {
    await gates.pass("door");
  }
}
class Hotel extends Context {
  rooms = this.children(Room);
}

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-lost-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

async function hotel(t: TestContext, journal: MemoryJournal | null) {
  gates = new Gates();
  clock(t);
  const warnings: string[] = [];
  const failures: string[] = [];
  const puppets = new Puppets(Hotel, journal);
  const service = await puppets.run(Hotel, {
    hosts: 1,
    onWarning: ({ message }) => void warnings.push(message),
    onFailure: ({ message }) => void failures.push(message),
  });
  return { ...service, puppets, warnings, failures, first: puppets.started[0], spare: puppets.started[1] };
}

test("a host that is lost is reported once, with its cause and what was under way there", async (t) => {
  const { root: rooms, stop, warnings, first } = await hotel(t, new MemoryJournal());
  const knocked = [rooms.rooms(1).knock(), rooms.rooms(2).knock()];
  await gates.reached("door");
  first?.ends("it ended with code 3");
  first?.on.lost(new Error("it ended again"));
  gates.open("door");
  await Promise.all(knocked);
  assert.deepEqual(warnings, [
    "HW-6009: host 0 (a thread) was lost: it ended with code 3, while 2 events were under way there, " +
      "Hotel.rooms(1).knock(…) among them. It is replaced; what was under way there starts again.",
  ]);
  await stop();
});

test("if a host could say what it was at, the event is named", async (t) => {
  const { root: rooms, stop, warnings, first } = await hotel(t, new MemoryJournal());
  const knocked = [rooms.rooms(1).knock(), rooms.rooms(2).knock()];
  await gates.reached("door");
  assert.ok(first);
  first.at = [0, 2 as Ticket];
  first.ends("it ended with code 3");
  gates.open("door");
  await Promise.all(knocked);
  assert.match(warnings.join(), /with code 3, while Hotel\.rooms\(2\)\.knock\(…\) was running there\. It is/);
  await stop();
});

test("the spare host is replaced, too, if it had been ready", async (t) => {
  const { stop, puppets, warnings, spare } = await hotel(t, new MemoryJournal());
  spare?.ends("it was ended by SIGKILL");
  await said();
  puppets.last.ends("it was ended by SIGKILL, too");
  await said();
  assert.equal(puppets.started.length, 3);
  assert.deepEqual(warnings, [
    "HW-6009: the spare host (a thread) was lost: it was ended by SIGKILL. It is replaced.",
    "HW-6009: the spare host (a thread) was lost: it was ended by SIGKILL, too. It is started again when the next host is lost.",
  ]);
  await stop();
});

test("a host that nobody needs any more is not called lost", async (t) => {
  const { stop, puppets, warnings } = await hotel(t, new MemoryJournal());
  await stop();
  assert.ok(puppets.started.every(({ isKilled }) => isKilled));
  assert.deepEqual(warnings, []);
});

test("without a journal, the failure says what ran on the host that is lost", async (t) => {
  const { root: rooms, stop, warnings, failures, first } = await hotel(t, null);
  const knocked = assert.rejects(rooms.rooms(1).knock(), { code: "HW-6001" });
  await gates.reached("door");
  first?.ends("it ended with code 3");
  await knocked;
  assert.match(failures.join(), /host 0 has ended \(it ended with code 3, while Hotel\.rooms\(1\)\.knock/);
  assert.deepEqual(warnings, []);
  await stop();
});

test("the list of hosts shows which is being replaced, and how often that was so", async (t) => {
  const { root: rooms, stop, puppets, ...service } = await hotel(t, new MemoryJournal());
  const list = () =>
    hostsOf(service)
      .list()
      .map(({ id, state, restarts }) => [id, state, restarts]);
  assert.deepEqual(list(), [[0, "running", 0]]);
  puppets.started[0]?.ends("it was killed");
  assert.deepEqual(list(), [[0, "running", 1]]);
  puppets.started[1]?.ends("it was killed, too");
  assert.deepEqual(list(), [[0, "starting", 2]]);
  for (const puppet of puppets.started.slice(2)) puppet.ready();
  assert.deepEqual(list(), [[0, "running", 2]]);
  gates.open("door");
  await rooms.rooms(1).knock();
  await stop();
});

test("a host that is lost for good is not in the list any more", async (t) => {
  const { root: rooms, stop, first, ...service } = await hotel(t, null);
  gates.open("door");
  await rooms.rooms(1).knock();
  first?.ends("it was killed");
  assert.deepEqual(hostsOf(service).list(), []);
  await assert.rejects(hostsOf(service).add(), { code: "HW-6001" });
  await stop();
});

test("after the end of a program, what is asked of its hosts is refused", async (t) => {
  const { stop, ...service } = await hotel(t, null);
  const hosts = hostsOf(service);
  const adding = assert.rejects(hosts.add(), { code: "HW-1401" });
  await stop();
  await adding;
  const stopped = { code: "HW-1401" };
  await assert.rejects(hosts.add(), stopped);
  await assert.rejects(hosts.move("Hotel.rooms(1)", 0), stopped);
  await assert.rejects(hosts.drain(0), stopped);
  await assert.rejects(hosts.remove(0), stopped);
  await assert.rejects(hosts.pin("Hotel.rooms(1)", 0), stopped);
  await assert.rejects(hosts.separate(Room), stopped);
  assert.deepEqual(hosts.list(), []);
});

test("a host that ends while it is added is refused with a code", async (t) => {
  const { stop, puppets, ...service } = await hotel(t, null);
  const adding = assert.rejects(hostsOf(service).add(), {
    code: "HW-6008",
    message: /host 1 could not be started: it was ended by SIGKILL/,
  });
  puppets.last.ends("it was ended by SIGKILL");
  await adding;
  await stop();
});

for (const hostsAs of ["threads", "processes"] as const) {
  test(`${hostsAs}: why a host has ended is known, and which event ended it`, async (t) => {
    const warnings: HeadwaterError[] = [];
    const options = { hosts: 1, hostsAs, module, onLoad: () => {}, journal: new MemoryJournal() } as const;
    const { root: counters, stop } = await run(Counters, {
      ...options,
      onWarning: (warning) => void warnings.push(warning),
    });
    const texts = () => warnings.filter(({ code }) => code === "HW-6009").map(({ message }) => message);
    await counters.counters(1).exit(join(await directory(t), "fuse"));
    await counters.counters(1).forget();
    while (texts().length < 2) await said();
    const [exited = "", threw = ""] = texts();
    const kind = hostsAs === "threads" ? "a thread" : "a process";
    const ran = "while Counters.counters(1).exit(…) was running there";
    assert.ok(exited.includes(`host 0 (${kind}) was lost: it ended with code 3, ${ran}`), exited);
    assert.match(threw, /because of an uncaught error, Error: nobody cares/);
    assert.equal(await counters.counters(1).add(), 1);
    await stop();
  });
}

test("headwater run prints that a host was lost, and why", async (t) => {
  const program = fileURLToPath(new URL("./programs/fragile.ts", import.meta.url));
  const args = [cli, "run", program, "--hosts", "2", "--journal", join(await directory(t), "journal")];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /HW-6009: host \d \(a thread\) was lost: .* uncaught error, Error: it is broken/);
});
