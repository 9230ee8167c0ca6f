import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { packageWith, Running } from "./headwater.js";

/** Whatever fails in a program is said once: where, what, and on which line of the program. */

const PROGRAM = `import { Context, expose } from "headwater";

class Refused extends Error {
  override name = "Refused";
}

class Room extends Context<string> {
  names?: string[];

  bug(text: string) {
    return this.names!.push(text); // BUG
  }
  plain() {
    throw new Error("out of order"); // PLAIN
  }
  refuse() {
    throw new Refused("not today");
  }
  rule() {
    return String(new Room()); // RULE
  }
  later() {
    this.event.after(1, this.tick);
  }
  tick() {
    throw new TypeError("the clock stands still"); // TICK
  }
}

export default class Hotel extends Context {
  rooms = this.children(Room);
}

export const api = expose(Hotel, {
  bug: (hotel, room: string, text: string) => hotel.rooms(room).bug(text),
  plain: (hotel, room: string) => hotel.rooms(room).plain(),
  refuse: (hotel, room: string) => hotel.rooms(room).refuse(),
  rule: (hotel, room: string) => hotel.rooms(room).rule(),
  later: (hotel, room: string) => hotel.rooms(room).later(),
  own: (hotel, room: string) => (hotel as never as { rooms: Function }).rooms(room).leter(), // OWN
  after: async (hotel, room: string) => (await hotel.rooms(room).later())!.oops, // AFTER
});
`;

const lineOf = (mark: string) => PROGRAM.split("\n").findIndex((line) => line.endsWith(`// ${mark}`)) + 1;

async function hotel(t: TestContext, ...options: string[]) {
  const folder = packageWith(t, { "hotel.ts": PROGRAM });
  const running = new Running(["run", "hotel", "--port", "0", ...options], folder);
  t.after(async () => {
    running.interrupt("SIGKILL");
    await running.ended;
  });
  await running.hasWritten("Listening on ");
  const url = /Listening on (\S+)/.exec(running.stderr)?.[1] ?? assert.fail(running.stderr);
  const post = async (name: string, ...args: unknown[]) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/api/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(args),
    });
    return response.status;
  };
  return { running, post };
}

/** What is said about one failure: its first line, and the lines of the stack. */
function reportsIn(stderr: string): { title: string; stack: string }[] {
  const [, ...reports] = stderr.split(/^event failed /m);
  return reports.map((report) => {
    const [title = "", ...rest] = report.split("\n");
    return { title, stack: rest.filter((line) => /^\s+at /.test(line)).join("\n") };
  });
}

const EXPECTED: readonly [name: string, args: string[], title: RegExp, mark: string][] = [
  ["bug", ["a", "x"], /^Hotel\.rooms\("?a"?\)\.bug \(by a request\): TypeError: .*push/, "BUG"],
  ["plain", ["b"], /^Hotel\.rooms\("?b"?\)\.plain \(by a request\): out of order/, "PLAIN"],
  ["rule", ["c"], /^Hotel\.rooms\("?c"?\)\.rule \(by a request\): HW-\d{4}/, "RULE"],
  ["later", ["d"], /^Hotel\.rooms\("?d"?\)\.tick \(by a timer\): TypeError: the clock/, "TICK"],
  ["own", ["e"], /^api\.own \(by a request\): .*leter/, "OWN"],
  ["after", ["f"], /^api\.after \(by a request\): TypeError: .*oops/, "AFTER"],
];

for (const where of [[], ["--hosts", "2"], ["--hosts", "2", "--processes"]]) {
  test(`every failure is said with its place in the program: ${where.join(" ") || "one host"}`, async (t) => {
    const { running, post } = await hotel(t, ...where);
    for (const [name, args, title, mark] of EXPECTED) {
      const before = reportsIn(running.stderr).length;
      await post(name, ...args);
      await running.hasWritten(`hotel.ts:${lineOf(mark)}:`);
      const report = reportsIn(running.stderr)[before];
      assert.match(report?.title ?? "", title);
      assert.ok(report?.stack.includes(`hotel.ts:${lineOf(mark)}:`), `${mark}: ${running.stderr}`);
      assert.doesNotMatch(report?.stack ?? "", /headwater\/(dist|src)\/|node:/);
    }
    await post("later", "g"); // the timer of "after" has gone off as well by the time that this one has
    await running.hasWritten('rooms("g").tick');
    const said = reportsIn(running.stderr).map(({ title }) => title);
    assert.equal(new Set(said).size, said.length, `nothing is said twice: ${said.join("\n")}`);
  });
}

test("an error with a name of its own is an answer, and a flood of one failure is said once", async (t) => {
  const { running, post } = await hotel(t);
  assert.equal(await post("refuse", "a"), 422);
  for (let i = 0; i < 50; i++) assert.equal(await post("bug", `room ${i}`, "x"), 422);
  assert.equal(await post("plain", "b"), 422);
  await running.hasWritten("out of order");
  const titles = reportsIn(running.stderr).map(({ title }) => title.split(" ")[0]);
  assert.equal(titles.length, 2, running.stderr);
});
