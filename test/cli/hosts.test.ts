import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { headwater, packageWith, Running, runHere } from "./headwater.js";

const PROGRAM = `
  import { Context } from "headwater";
  class Room extends Context<number> {
    guests = 0;
    enter() { return (this.guests += 1); }
  }
  export default class Hotel extends Context {
    rooms = this.children(Room);
  }
  export async function main(service, io) {
    for (let i = 0; i < 10; i++) await service.root.rooms(i).enter();
    io.print("open");
    await new Promise((resolve) => io.signal.addEventListener("abort", resolve));
    io.print("guests " + (await service.root.rooms(3).enter()));
  }
`;

async function started(t: TestContext, ...options: string[]): Promise<{ folder: string; running: Running }> {
  const folder = packageWith(t, { "hotel.ts": PROGRAM });
  const running = new Running(["run", "hotel", "--hosts", "2", ...options], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("open");
  return { folder, running };
}

const said = (text: string) => text.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);

test("headwater hosts lists, adds, drains and removes hosts of a running program, and moves contexts", async (t) => {
  const { folder, running } = await started(t, "--journal", "data");
  const at = ["--journal", join(folder, "data")];
  const list = async () => {
    const { stdout } = await headwater("hosts", "list", ...at, "--json");
    return said(stdout).map(({ id, state }) => `${id} ${state}`);
  };
  assert.deepEqual(await list(), ["0 running", "1 running"]);
  assert.match((await headwater("hosts", ...at)).stdout, /^host {2}state.*\n0 +running/);
  assert.match((await headwater("hosts", "add", "2", ...at)).stderr, /Added: host 2, host 3\./);
  const moved = await headwater("hosts", "move", "Hotel.rooms(3)", "3", ...at, "--json");
  assert.deepEqual(said(moved.stdout), [{ action: "move", context: "Hotel.rooms(3)", host: 3 }]);
  assert.equal((await headwater("hosts", "drain", "1", ...at)).exitCode, 0);
  assert.equal((await headwater("hosts", "remove", "0", ...at)).exitCode, 0);
  assert.deepEqual(await list(), ["1 draining", "2 running", "3 running"]);
  const last = await headwater("hosts", "remove", "7", ...at, "--json");
  assert.deepEqual([last.exitCode, said(last.stdout)[0]?.code], [1, "HW-6011"]);
  running.interrupt();
  const { stdout, exitCode } = await running.ended;
  assert.deepEqual([exitCode, stdout], [0, "open\nguests 2\n"]);
  assert.deepEqual(readdirSync(join(folder, "data")).sort(), ["journal.json", "log"]);
  const gone = await headwater("hosts", "list", ...at);
  assert.equal(gone.exitCode, 1);
  assert.match(gone.stderr, /HW-6016.*no process is there/);
});

test("only its own user can open the door of a program, and what comes in has an end", async (t) => {
  const { folder, running } = await started(t, "--admin", "door");
  const door = join(folder, "door");
  assert.equal(statSync(door).mode & 0o777, 0o600);
  for (const [line, answer] of [
    ["no JSON", /message/],
    ['{"action":"stop"}', /HW-6016/],
    ['{"action":"move","context":{"x":1},"host":0}', /HW-6013/],
    ["null", /message/],
  ] as const) {
    const socket = connect(door);
    socket.end(`${line}\n`);
    const [data] = (await once(socket, "data")) as [Buffer];
    assert.match(String(data), answer);
  }
  const flood = connect(door);
  flood.on("error", () => {}); // it is cut off
  flood.write("x".repeat(1_000_000));
  await new Promise((resolve) => flood.on("close", resolve));
  assert.equal((await headwater("hosts", "list", "--admin", door)).exitCode, 0);
  const second = new Running(["run", "hotel", "--hosts", "2", "--admin", "door"], folder);
  const { exitCode, stderr } = await second.ended;
  assert.equal(exitCode, 1);
  assert.match(stderr, /HW-6016.*another program listens there/);
  running.interrupt();
  await running.ended;
});

test("a file that is where the door should be stays, and the program is not started", async (t) => {
  const folder = packageWith(t, { "hotel.ts": PROGRAM, door: "mine" });
  const { exitCode, stderr } = await runHere(folder, "run", "hotel", "--hosts", "2", "--admin", "door");
  assert.equal(exitCode, 1);
  assert.match(stderr, /HW-6016.*door: something else is there/);
  assert.equal(readFileSync(join(folder, "door"), "utf8"), "mine");
});

test("a door that a killed program has left behind is opened again", async (t) => {
  const { folder, running } = await started(t, "--admin", "door");
  running.interrupt("SIGKILL");
  await running.ended;
  assert.ok(existsSync(join(folder, "door")));
  const again = new Running(["run", "hotel", "--hosts", "2", "--admin", "door"], folder);
  t.after(() => again.interrupt("SIGKILL"));
  await again.hasWritten("open");
  assert.equal((await headwater("hosts", "--admin", join(folder, "door"))).exitCode, 0);
  again.interrupt();
  await again.ended;
});

test("headwater hosts says what it takes", async () => {
  for (const [args, problem] of [
    [["list"], /Which program\?/],
    [["lst", "--admin", "x"], /Did you mean "?list/],
    [["drain", "--admin", "x"], /HOST is a number/],
    [["move", "--admin", "x"], /needs a context and a host/],
    [["move", "A", "--admin", "x"], /HOST is a number/],
    [["remove", "one", "--admin", "x"], /not "one"/],
    [["list", "1", "--admin", "x"], /one word too many/],
  ] as const) {
    const { exitCode, stderr } = await headwater("hosts", ...args);
    assert.equal(exitCode, 2, args.join(" "));
    assert.match(stderr, problem);
  }
});
