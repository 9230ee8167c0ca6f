import { type OutsideCall, outside } from "../../model/outside.js";

/** What generated programs call outside. Outside functions belong to a process, and simulated worlds come and go. */
type Work = (value: number, call: OutsideCall) => Promise<number>;

const worlds = new Map<number, Work>();
/** All numbers of worlds take the same number of bytes, so that what is written to a disk does not depend on them. */
let lastWorld = 2 ** 20;

export interface OutsideInput {
  readonly world: number;
  readonly value: number;
}

export const simulated = outside(
  "headwater.sim",
  ({ world, value }: OutsideInput, call) => {
    const work = worlds.get(world);
    if (work === undefined) throw new Error("the simulated world is gone");
    return work(value, call);
  },
  { attempts: 3, backoffMs: 5, timeoutMs: 1000 },
);

/** Lets programs that name this world call `work`. */
export function openWorld(work: Work): number {
  lastWorld += 1;
  worlds.set(lastWorld, work);
  return lastWorld;
}

export function closeWorld(world: number): void {
  worlds.delete(world);
}
