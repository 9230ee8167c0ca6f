import { setTimeout as sleep } from "node:timers/promises";
import { Context, type ProgramIo, readonly, type Service } from "headwater";

/**
 * Entities crossing the cells of a grid, each at a fixed tick. A step is one event that leaves one cell and enters
 * another. With one actor per cell, an entity would at times be in a message between two cells, or, after a retry,
 * in both; here nobody ever finds it anywhere but in exactly one.
 *
 * Cells are grouped into regions. A step within a region starts at the region, so regions work side by side; only
 * a step from one region into another starts at the world.
 */
export const WIDTH = 24;
export const HEIGHT = 8;
const REGION_SIZE = 4;

export interface Entity {
  id: string;
  x: number;
  y: number;
  dx: number;
  dy: number;
  tickMs: number;
  ticks: number;
  ticksMax: number;
  /** It is gone after its last tick, instead of staying where it is. */
  vanishes?: boolean;
  bornAt: number;
}

/** The entity one tick later: one cell on, having turned round where it would have left the world. */
function moved(entity: Entity): Entity {
  const dx = isWithin(WIDTH, entity.x + entity.dx) ? entity.dx : -entity.dx;
  const dy = isWithin(HEIGHT, entity.y + entity.dy) ? entity.dy : -entity.dy;
  return { ...entity, x: entity.x + dx, y: entity.y + dy, dx, dy, ticks: entity.ticks + 1 };
}

export class Cell extends Context<readonly [x: number, y: number]> {
  entities = new Map<string, Entity>();

  enter(entity: Entity) {
    if (entity.ticks === entity.ticksMax && entity.vanishes === true) {
      this.event.start(this.above(World)).forget(entity.id);
      return;
    }
    this.entities.set(entity.id, entity);
    if (entity.ticks === entity.ticksMax) return;
    // Counted from its birth, so that ticks which come a little late do not add up.
    const nextTickAt = entity.bornAt + (entity.ticks + 1) * entity.tickMs;
    this.event.after(Math.max(0, nextTickAt - this.event.time), this.tick, entity.id);
  }

  leave(id: string) {
    if (!this.entities.delete(id)) throw new Error(`${id} is not in cell ${this.key}`);
  }

  /** A cell cannot call its neighbour. It starts the step at the nearest context that is above both. */
  tick(id: string) {
    const before = this.entities.get(id);
    if (before === undefined) throw new Error(`${id} is not in cell ${this.key}`);
    const after = moved(before);
    if (isSameRegion(before, after)) this.event.start(this.above(Region)).step(before, after);
    else this.event.start(this.above(World)).step(before, after);
  }

  @readonly list() {
    return [...this.entities.values()];
  }
}

export class Region extends Context<readonly [column: number, row: number]> {
  cells = this.children(Cell);

  async step(before: Entity, after: Entity) {
    this.downgrade();
    await this.cells(before.x, before.y).leave(before.id);
    await this.cells(after.x, after.y).enter(after);
  }

  @readonly async list() {
    const [column, row] = this.key;
    const cells = grid(REGION_SIZE, REGION_SIZE).map(([x, y]) =>
      this.cells(column * REGION_SIZE + x, row * REGION_SIZE + y).list(),
    );
    return (await Promise.all(cells)).flat();
  }
}

export default class World extends Context {
  ids = new Set<string>();
  regions = this.children(Region);

  async add(entity: Omit<Entity, "ticks" | "bornAt">) {
    if (this.ids.has(entity.id)) throw new Error(`${entity.id} is in the world already`);
    if (!isWithin(WIDTH, entity.x) || !isWithin(HEIGHT, entity.y))
      throw new Error(`${entity.id} is off the grid`);
    this.ids.add(entity.id);
    await this.#cell(entity).enter({ ...entity, ticks: 0, bornAt: this.event.time });
  }

  forget(id: string) {
    this.ids.delete(id);
  }

  async step(before: Entity, after: Entity) {
    this.downgrade();
    await this.#cell(before).leave(before.id);
    await this.#cell(after).enter(after);
  }

  /** All entities that are in any cell, all seen at the same moment. */
  @readonly async audit() {
    const regions = grid(WIDTH / REGION_SIZE, HEIGHT / REGION_SIZE).map((key) => this.regions(...key).list());
    return (await Promise.all(regions)).flat();
  }

  #cell(at: Place) {
    return this.regions(...regionOf(at)).cells(at.x, at.y);
  }
}

type Place = Pick<Entity, "x" | "y">;

export function regionOf({ x, y }: Place): readonly [column: number, row: number] {
  return [Math.floor(x / REGION_SIZE), Math.floor(y / REGION_SIZE)];
}

function isWithin(size: number, position: number): boolean {
  return Number.isInteger(position) && position >= 0 && position < size;
}

function isSameRegion(one: Place, other: Place): boolean {
  return regionOf(one).join() === regionOf(other).join();
}

function grid(columns: number, rows: number): (readonly [column: number, row: number])[] {
  return Array.from({ length: columns * rows }, (_, i) => [i % columns, Math.floor(i / columns)]);
}

/** Runs a small world for 50 ticks, or, if `io.forever`, until it is told to stop. */
export async function main({ root: world }: Service<World>, io: ProgramIo) {
  const [tickMs, ticksMax, reportMs] = io.forever ? [100, Number.MAX_SAFE_INTEGER, 1000] : [10, 50, 100];
  const last = await world.audit(); // none, unless a journal has kept those of the last run: they go on by themselves
  for (let i = 0; i < 40; i++) {
    const [id, dx, dy] = [`entity ${i}`, (i % 3) - 1, i % 2 === 0 ? 1 : -1];
    if (last.some((entity) => entity.id === id)) continue;
    await world.add({ id, x: (i * 7) % WIDTH, y: (i * 5) % HEIGHT, dx, dy, tickMs, ticksMax });
  }
  let found = await world.audit();
  io.print(`${found.length} entities cross ${WIDTH} by ${HEIGHT} cells, one step each ${tickMs} ms:`);
  for (const row of draw(found)) io.print(row);

  while (!io.signal.aborted && found.some(({ ticks }) => ticks < ticksMax)) {
    const [stepsBefore, timeBefore] = [stepsOf(found), Date.now()];
    await sleep(reportMs, undefined, { signal: io.signal }).catch(() => "told to stop");
    found = await world.audit();
    const steps = stepsOf(found);
    // Each step takes two events: the tick in its cell, and the step itself above both cells.
    const events = 2 * (steps - stepsBefore);
    const eventsPerSecond = Math.round((1000 * events) / Math.max(1, Date.now() - timeBefore));
    io.print(`${found.length} entities, ${steps} steps, ${eventsPerSecond} events per second`);
  }
  for (const row of draw(found)) io.print(row);
}

function stepsOf(entities: readonly Entity[]): number {
  return entities.reduce((sum, { ticks }) => sum + ticks, 0);
}

/** One line per row of cells: the number of entities in each cell, or a dot. */
function draw(entities: readonly Entity[]): string[] {
  const counts = Array.from({ length: HEIGHT }, () => new Array<number>(WIDTH).fill(0));
  for (const { x, y } of entities) {
    const row = counts[y];
    if (row !== undefined) row[x] = (row[x] ?? 0) + 1;
  }
  return counts.map((row) => row.map((count) => count || ".").join(""));
}
