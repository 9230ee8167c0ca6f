import assert from "node:assert/strict";
import { test } from "node:test";
import { cycleIn, type Import, importsIn, roomOf } from "./imports.js";
import { PAST_THE_DOOR, ROOMS } from "./rooms.js";
import { filesIn } from "./source.js";

const src = filesIn(["src"], [".ts"]);
const imports = importsIn(src);
const between = imports.filter(({ from, to }) => roomOf(from) !== roomOf(to));
const say = ({ from, to, need }: Import) => `${from} imports ${to} by ${need}`;

test("the files of src import only what lies below them", () => {
  const wrong = between.filter(({ from, to, need }) => {
    const room = ROOMS[roomOf(from)];
    assert.ok(
      room,
      `${from} is in a room that test/house/rooms.ts does not know; say there what it may import`,
    );
    if (need === "start" || room.loads.includes(roomOf(to))) return false;
    return need === "value" || !room.names?.includes(roomOf(to));
  });
  assert.deepEqual(wrong.map(say), []);
});

test("no room is loaded by what it loads", () => {
  assert.equal(cycleIn(imports)?.join(" loads "), undefined);
});

test("the rooms of the runtime and of the simulator are entered by their doors", () => {
  const doors = new Set(src.flatMap(({ path }) => (/^src\/\w+\/\w+\/index\.ts$/.test(path) ? [path] : [])));
  const hasDoor = (to: string) => doors.has(`src/${roomOf(to)}/index.ts`);
  const wrong = between.filter(({ from, to, need }) => {
    if (need === "start" || !roomOf(to).includes("/")) return false;
    return hasDoor(to) ? !doors.has(to) && !PAST_THE_DOOR[roomOf(from)]?.includes(to) : true;
  });
  assert.deepEqual(wrong.map(say), []);
});

test("a door says what lives behind it", () => {
  const doors = src.filter(({ path }) => roomOf(path).includes("/") && path.endsWith("/index.ts"));
  assert.ok(doors.length > 0);
  assert.deepEqual(
    doors.filter(({ text }) => !text.startsWith("/**\n")).map(({ path }) => path),
    [],
  );
});

test("a way round is found, and types make none", () => {
  const need = (from: string, to: string, how: Import["need"]) => ({
    from: `src/${from}/a.ts`,
    to: `src/${to}/b.ts`,
    need: how,
  });
  const way = [need("core", "state", "value"), need("state", "model", "value")];
  assert.equal(cycleIn([...way, need("model", "core", "type")]), null);
  assert.deepEqual(cycleIn([...way, need("model", "core", "value")]), ["core", "state", "model", "core"]);
});

test("imports are told apart by what they need", () => {
  const text = `import { type A, b } from "./one.js";
import type { C } from "./two.js";
import { type D } from "./three.js";
export { type E } from "./four.js";
export { f } from "./five.js";
import "./six.js";
const later = () => import("./seven.js");
new Worker(new URL("./eight.js", import.meta.url));
import { g } from "node:fs";
`;
  assert.deepEqual(
    importsIn([{ path: "src/core/x.ts", text }]).map(({ to, need }) => `${need} ${to}`),
    [
      "value src/core/one.ts",
      "type src/core/two.ts",
      "type src/core/three.ts",
      "value src/core/six.ts",
      "type src/core/four.ts",
      "value src/core/five.ts",
      "value src/core/seven.ts",
      "start src/core/eight.ts",
    ],
  );
});
