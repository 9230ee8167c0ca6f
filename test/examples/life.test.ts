import assert from "node:assert/strict";
import test from "node:test";
import { type NodeService, run } from "headwater";
import { Random } from "#src/random.js";
import program, { main, type Page } from "../../examples/life.js";
import { runErratically } from "./erratic.js";
import { printed } from "./printed.js";

const GENERATIONS = 200;

/** The next generation by looping over an array, which is all there is to the game without contexts. */
function nextGeneration(rows: readonly string[]): string[] {
  const [width, height] = [rows[0]?.length ?? 0, rows.length];
  const isAlive = (x: number, y: number) => rows[(y + height) % height]?.[(x + width) % width] === "#";
  return rows.map((row, y) =>
    Array.from(row, (value, x) => {
      let neighbours = 0;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) if ((dx !== 0 || dy !== 0) && isAlive(x + dx, y + dy)) neighbours++;
      }
      return neighbours === 3 || (neighbours === 2 && value === "#") ? "#" : ".";
    }).join(""),
  );
}

function soup(seed: number, width: number, height: number): string[] {
  const random = new Random(seed);
  return Array.from({ length: height }, () =>
    Array.from({ length: width }, () => (random.chance(0.4) ? "#" : ".")).join(""),
  );
}

const GLIDER = [
  ".#......",
  "..#.....",
  "###.....",
  "........",
  "........",
  "........",
  "........",
  "........",
];
/** A glider and a block in its way, on a grid that is not square. */
const COLLISION = [".#.......", "..#......", "###......", ".........", ".....##..", ".....##..", "........."];

const starts: Record<string, string[]> = {
  "a glider": GLIDER,
  "a glider that hits a block": COLLISION,
  "a random soup": soup(3, 8, 8),
  "a soup where one cell is a neighbour on two sides": soup(5, 2, 5),
};

type LifeService = NodeService<typeof program>;

async function livesAsInAnArray(service: LifeService, start: readonly string[]): Promise<void> {
  const pages: Page[] = [];
  const screen = service.client("screen", (message) => pages.push(message as Page));
  await screen.nodes.printer.watch();
  await service.nodes.compute.begin(start, GENERATIONS);
  await service.idle();

  assert.equal(pages.length, GENERATIONS + 1);
  let rows = start;
  for (const [generation, page] of pages.entries()) {
    assert.deepEqual(page, { generation, rows });
    rows = nextGeneration(rows);
  }
  assert.equal(await service.nodes.printer.unfinished(), 0);
}

for (const [name, start] of Object.entries(starts)) {
  test(`${name} lives as it does in a plain array for ${GENERATIONS} generations`, async () => {
    const failures: unknown[] = [];
    await using service = await run(program, { onError: (failure) => failures.push(failure) });
    await livesAsInAnArray(service, start);
    assert.deepEqual(failures, []);
  });
}

test("a soup lives on in the same way when parts of the grid run ahead of others", async () => {
  const failures: unknown[] = [];
  await using service = await runErratically(program, { onError: (failure) => failures.push(failure) });
  await livesAsInAnArray(service, soup(3, 6, 6));
  assert.deepEqual(failures, []);
});

test("the demonstration draws every fourth generation of a glider", async () => {
  await using service = await run(program);
  const lines = await printed(main, service);
  assert.equal(lines[0], "a glider moves one cell to the right and one down in four generations");
  assert.deepEqual(lines.slice(1, 8), [
    "generation 0",
    ".#......",
    "..#.....",
    "###.....",
    ...Array(3).fill("........"),
  ]);
  assert.deepEqual(lines.slice(8, 15), [
    "generation 4",
    "........",
    "..#.....",
    "...#....",
    ".###....",
    ...Array(2).fill("........"),
  ]);
  assert.equal(lines.filter((line) => line.startsWith("generation")).length, 5);
});
