import { setTimeout as sleep } from "node:timers/promises";
import { expose, type ProgramIo, type Service } from "headwater";
import World, { HEIGHT, WIDTH } from "../moving-entities.js";

/**
 * The world of moving entities with a web page (`page/`), under a load that rises and falls: what `headwater dev` shows when it is
 * given no program. Entities live for ten seconds, and new ones come as the load asks for them.
 */
export default World;

export const api = expose(World, { audit: (world) => world.audit() });

const [TICK_MS, TICKS_MAX] = [100, 100];
const ENTITIES = 60;
/** The load rises and falls once in so many milliseconds. */
const WAVE_MS = 40_000;
const LOOK_MS = 250;

export async function main({ root: world }: Service<World>, io: ProgramIo) {
  let born = Date.now(); // ids of this run, unlike those that a journal has kept
  while (!io.signal.aborted) {
    const there = await world.audit();
    const wave = 1 + 0.6 * Math.sin((2 * Math.PI * Date.now()) / WAVE_MS);
    const wanted = Math.round(ENTITIES * io.load * wave);
    const adding = Array.from({ length: Math.min(20, wanted - there.length) }, (_, i) => {
      const entity = { id: `e${born++}`, x: (born * 7 + i) % WIDTH, y: (born * 5) % HEIGHT };
      const [dx, dy] = [(born % 3) - 1, born % 2 === 0 ? 1 : -1];
      return world.add({ ...entity, dx, dy, tickMs: TICK_MS, ticksMax: TICKS_MAX, vanishes: true });
    });
    await Promise.all(adding);
    if (!io.forever) return;
    await sleep(LOOK_MS, undefined, { signal: io.signal }).catch(() => "told to stop");
  }
}
