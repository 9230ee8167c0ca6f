import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { headwater, packageWith, Running } from "./headwater.js";

const PROGRAM = `
  import { existsSync } from "node:fs";
  import { Context } from "headwater";
  export default class Mine extends Context {
    coal = 0;
    dig(cure: string) {
      for (let i = 0; i < 2; i++) this.event.start(this.above(Mine)).blast(cure);
    }
    blast(cure: string) {
      if (!existsSync(cure)) process.exit(1);
      this.coal += 1;
      return { coal: this.coal };
    }
  }
  export async function main(service, io) {
    await service.root.dig("cure");
    await new Promise((resolve) => io.signal.addEventListener("abort", resolve));
  }
`;

test("headwater events parked lists events that end their hosts, runs them again and drops them", async (t) => {
  const folder = packageWith(t, { "mine.ts": PROGRAM });
  const running = new Running(["run", "mine", "--processes", "--journal", "data"], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("parked as Mine/2");
  await running.hasWritten("parked as Mine/3");
  const at = ["--journal", join(folder, "data")];
  const list = await headwater("events", "parked", ...at);
  assert.match(list.stdout, /^Mine\/2 {2}Mine\.blast\("cure"\)\n {2}started by: start, .* ended 4 hosts/);
  const json = await headwater("events", "parked", "list", ...at, "--json");
  assert.deepEqual(
    json.stdout.split("\n").map((line) => (JSON.parse(line) as { id: string }).id),
    ["Mine/2", "Mine/3"],
  );
  writeFileSync(join(folder, "cure"), "");
  const replayed = await headwater("events", "parked", "replay", "Mine/2", ...at);
  assert.match(replayed.stderr, /Mine\/2 has run. It returned {"coal":1}/);
  assert.match((await headwater("events", "parked", "drop", "Mine/3", ...at)).stderr, /dropped/);
  assert.match((await headwater("events", "parked", ...at)).stderr, /No event is parked/);
  const gone = await headwater("events", "parked", "drop", "Mine/3", ...at);
  assert.deepEqual([gone.exitCode, gone.stderr.includes("HW-6033")], [1, true]);
  running.interrupt();
  assert.equal((await running.ended).exitCode, 0);
});

test("headwater events says what is missing", async () => {
  const wrong: [string[], RegExp][] = [
    [["parked", "lst", "--admin", "x"], /Did you mean "?list/],
    [["parked", "drop", "--admin", "x"], /needs the ID/],
    [["parked", "list", "1", "--admin", "x"], /one word too many/],
    [["lost", "--admin", "x"], /"lost" is not parked/],
    [["parked"], /Which program/],
  ];
  for (const [args, said] of wrong) {
    const { exitCode, stderr } = await headwater("events", ...args);
    assert.equal(exitCode, 2);
    assert.match(stderr, said);
  }
});
