import { Context, type NodeService, type ProgramIo, readonly, reads } from "headwater";

/**
 * Conway's Game of Life on a torus, as in figure 1 of the companion paper. There is no clock and no barrier: each
 * cell is a context that goes on as soon as its eight neighbours have told it their values, so one corner of the
 * grid may be some generations ahead of another. The printer, a logical node of its own, puts the generations
 * together again.
 */
export class Life extends Context {
  width = 0;
  height = 0;
  generations = 0;
  cells = this.children(Cell);

  /** Takes rows of `#` (alive) and `.` (dead), and how many generations to compute from there. */
  begin(rows: readonly string[], generations: number) {
    if (this.height > 0) throw new Error("this game has begun already");
    this.width = rows[0]?.length ?? 0;
    this.height = rows.length;
    this.generations = generations;
    this.event.send(this.event.peer(Printer)).begin(this.width, this.height);
    for (const [y, row] of rows.entries()) {
      for (const [x, value] of [...row].entries()) this.event.start(this.cells(x, y)).begin(value === "#");
    }
  }

  @readonly hasBegun() {
    return this.height > 0;
  }
}

export class Cell extends Context<readonly [x: number, y: number]> {
  alive = false;
  generation = 0;
  // A neighbour that has this cell's value may go on before this cell does, by one generation and no more. So
  // there are two tallies: for the generation that this cell is in, and for the next one.
  now = { heard: 0, alive: 0 };
  next = { heard: 0, alive: 0 };

  @reads(Life) begin(alive: boolean) {
    this.alive = alive;
    this.#tellOthers();
  }

  storeVal(generation: number, alive: boolean) {
    const tally = generation === this.generation ? this.now : this.next;
    tally.heard += 1;
    tally.alive += alive ? 1 : 0;
    if (tally === this.now) this.#computeWhenReady();
  }

  @reads(Life) doCompute() {
    this.alive = this.now.alive === 3 || (this.alive && this.now.alive === 2);
    this.generation += 1;
    this.now = this.next;
    this.next = { heard: 0, alive: 0 };
    this.#tellOthers();
    this.#computeWhenReady();
  }

  #computeWhenReady() {
    if (this.now.heard === 8) this.event.start(this.above(Cell)).doCompute();
  }

  #tellOthers() {
    const { width, height, generations } = this.event.read(Life);
    const [x, y] = this.key;
    this.event.send(this.event.peer(Printer)).show(this.generation, x, y, this.alive);
    if (this.generation === generations) return;
    for (const dx of [-1, 0, 1]) {
      for (const dy of [-1, 0, 1]) {
        if (dx === 0 && dy === 0) continue;
        const neighbour = this.above(Life).cells((x + dx + width) % width, (y + dy + height) % height);
        this.event.start(neighbour).storeVal(this.generation, this.alive);
      }
    }
  }
}

export class Printer extends Context {
  width = 0;
  height = 0;
  watchers = new Set<string>();
  /** The generations that have begun to arrive and are not complete. */
  pages = new Map<number, { missing: number; rows: string[][] }>();

  /** Whoever calls this, as a connected client, is sent each generation once it is complete. */
  watch() {
    if (this.event.caller === undefined) throw new Error("only a connected client can watch");
    this.watchers.add(this.event.caller);
  }

  begin(width: number, height: number) {
    this.width = width;
    this.height = height;
  }

  show(generation: number, x: number, y: number, alive: boolean) {
    const page = this.pages.get(generation) ?? this.#blankPage();
    this.pages.set(generation, page);
    const row = page.rows[y];
    if (row === undefined) throw new Error(`there is no row ${y}`);
    row[x] = alive ? "#" : ".";
    page.missing -= 1;
    if (page.missing > 0) return;
    this.pages.delete(generation);
    const rows = page.rows.map((row) => row.join(""));
    for (const watcher of this.watchers) this.event.send(watcher, { generation, rows });
  }

  @readonly unfinished() {
    return this.pages.size;
  }

  #blankPage() {
    const rows = Array.from({ length: this.height }, () => new Array<string>(this.width).fill("?"));
    return { missing: this.width * this.height, rows };
  }
}

const program = { compute: Life, printer: Printer };
export default program;

export interface Page {
  generation: number;
  rows: string[];
}

export async function main(service: NodeService<typeof program>, io: ProgramIo) {
  const screen = service.client("screen", (message) => {
    const { generation, rows } = message as Page;
    if (generation % 4 !== 0) return;
    io.print(`generation ${generation}`);
    for (const row of rows) io.print(row);
  });
  await screen.nodes.printer.watch();

  if (await service.nodes.compute.hasBegun()) {
    io.print("the glider goes on where the last run ended"); // the cells' events are in the journal, and run by themselves
  } else {
    io.print("a glider moves one cell to the right and one down in four generations");
    await service.nodes.compute.begin(
      [".#......", "..#.....", "###.....", "........", "........", "........"],
      16,
    );
  }
  await service.idle();
  screen.close();
}
