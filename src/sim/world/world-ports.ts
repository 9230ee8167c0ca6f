import type { Ports } from "../../host/ports/index.js";
import type { Random } from "../../random.js";
import type { Soon } from "./soon.js";
import type { Visitors } from "./world-run.js";

type Later = (what: string, happen: () => void) => void;

/** What the ports of one process need of the world that they lead to. */
interface WorldOfPorts {
  isAlive(): boolean;
  now(): number;
  timeOfDay(): number;
  unique(): string;
  readonly soon: Soon;
  readonly isLazy: boolean;
  broken(error: unknown): void;
  setTimer(time: number, task: () => void): void;
  deleteTimer(task: () => void): void;
  within(task: () => void): void;
  runsNow(): boolean;
  readonly visitors: Visitors | null;
  readonly random: Random;
  /** How likely a message arrives twice. */
  readonly duplicates: number;
  /** What a journal in memory has not answered yet. */
  readonly journal: (() => void)[];
}

/** The ports of one process of a simulated world. */
export function worldPorts(add: Later, world: WorldOfPorts): Ports {
  const { visitors, random, journal } = world;
  return {
    now: world.now,
    timeOfDay: world.timeOfDay,
    unique: world.unique,
    soon: (task) => {
      if (world.isLazy) add("soon", task);
      else if (world.isAlive()) world.soon.add(task);
    },
    atRest: (task) => {
      if (world.isAlive()) world.soon.addAtRest(task);
    },
    broken: world.broken,
    at: (time, task) => {
      if (world.isAlive()) world.setTimer(time, task);
      return () => world.deleteTimer(task);
    },
    run: (task) => add("run", () => world.within(task)),
    runsNow: world.runsNow,
    ...(visitors && { callOutside: (...given) => visitors.outside(...given) }),
    append: (done) => {
      journal.push(done);
      if (journal.length === 1) add("journal", () => answer(journal, random, add));
    },
    transmit: (_from, _to, arrive) => {
      add("message", () => {
        if (random.chance(world.duplicates)) add("duplicate", arrive);
        arrive();
      });
    },
  };
}

/** The journal answers in the order in which it was asked, a few at a time. */
function answer(journal: (() => void)[], random: Random, add: Later): void {
  const answered = journal.splice(0, 1 + random.int(journal.length));
  if (journal.length > 0) add("journal", () => answer(journal, random, add));
  for (const done of answered) done();
}
