import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, reads, run } from "headwater";

/** "Dependable Elasticity", figure 1: Conway's Game of Life on two logical nodes, a compute node and a printer. */

type Board = readonly (readonly boolean[])[];

class Printer extends Context {
  frames: { generation: number; x: number; y: number; alive: boolean }[] = [];
  show(generation: number, x: number, y: number, alive: boolean) {
    this.frames.push({ generation, x, y, alive });
  }
  @readonly shown() {
    return this.frames;
  }
}
class Life extends Context {
  size = 0;
  generations = 0;
  cells = this.children(Cell);

  async begin(board: Board, generations: number) {
    this.size = board.length;
    this.generations = generations;
    for (const [y, row] of board.entries()) {
      for (const [x, alive] of row.entries()) await this.cells(x, y).begin(alive);
    }
  }
}
class Cell extends Context<readonly [x: number, y: number]> {
  generation = 0;
  alive = false;
  /** What the neighbours said, by generation: a neighbour may be one ahead. */
  heard = new Map<number, Map<string, boolean>>();

  begin(alive: boolean) {
    this.alive = alive;
    this.tellNeighbours();
  }
  /** The paper's storeVal. */
  store(generation: number, from: readonly [number, number], alive: boolean) {
    const heard = this.heard.get(generation) ?? new Map<string, boolean>();
    this.heard.set(generation, heard.set(from.join(), alive));
    if (generation === this.generation && heard.size === 8) this.event.start(this.above(Cell)).compute();
  }
  /** The paper's doCompute. */
  @reads(Life) compute() {
    const heard = this.heard.get(this.generation);
    if (heard?.size !== 8) throw new Error(`cell ${this.key} was asked to compute too early`);
    this.heard.delete(this.generation);
    const neighbours = [...heard.values()].filter(Boolean).length;
    this.alive = neighbours === 3 || (this.alive && neighbours === 2);
    this.generation += 1;
    this.event.send(this.event.peer(Printer)).show(this.generation, ...this.key, this.alive);
    if (this.generation === this.event.read(Life).generations) return;
    this.tellNeighbours();
    if (this.heard.get(this.generation)?.size === 8) this.event.start(this.above(Cell)).compute();
  }
  protected tellNeighbours() {
    const [x, y] = this.key;
    const { size } = this.event.read(Life);
    for (const dx of [-1, 0, 1]) {
      for (const dy of [-1, 0, 1]) {
        if (dx === 0 && dy === 0) continue;
        const neighbour = this.above(Life).cells((x + dx + size) % size, (y + dy + size) % size);
        this.event.start(neighbour).store(this.generation, this.key, this.alive);
      }
    }
  }
}

/** The same rules as one would write them on one array. */
function next(board: Board): Board {
  const size = board.length;
  const at = (x: number, y: number) => (board[(y + size) % size]?.[(x + size) % size] ? 1 : 0);
  return board.map((row, y) =>
    row.map((alive, x) => {
      let neighbours = -at(x, y);
      for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) neighbours += at(x + dx, y + dy);
      return neighbours === 3 || (alive && neighbours === 2);
    }),
  );
}

const GLIDER: Board = ["..#..", "#.#..", ".##..", ".....", "....."].map((row) =>
  [...row].map((cell) => cell === "#"),
);
const GENERATIONS = 6;

for (const commitOrder of ["observer", "total"] as const) {
  test(`figure 1: the cells compute what one array computes, with commit order "${commitOrder}"`, async () => {
    const service = await run({ life: Life, printer: Printer }, { commitOrder });
    await service.nodes.life.begin(GLIDER, GENERATIONS);
    await service.idle();
    const shown = await service.nodes.printer.shown();
    assert.equal(shown.length, GENERATIONS * 25, "each cell was shown once in each generation");
    let board = GLIDER;
    for (let generation = 1; generation <= GENERATIONS; generation++) {
      board = next(board);
      const seen = GLIDER.map((row) => row.map(() => false));
      for (const frame of shown) {
        const row = frame.generation === generation ? seen[frame.y] : undefined;
        if (row !== undefined) row[frame.x] = frame.alive;
      }
      assert.deepEqual(seen, board, `generation ${generation}`);
    }
    await service.stop();
  });
}

test("figure 1: the printer is told of each cell's generations in their order", async () => {
  const service = await run({ life: Life, printer: Printer });
  await service.nodes.life.begin(GLIDER, GENERATIONS);
  await service.idle();
  const last = new Map<string, number>();
  for (const { x, y, generation } of await service.nodes.printer.shown()) {
    assert.equal(generation, (last.get(`${x},${y}`) ?? 0) + 1);
    last.set(`${x},${y}`, generation);
  }
  assert.equal(last.size, 25);
  await service.stop();
});
