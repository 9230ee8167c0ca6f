import type { ContextClass, RunOptions, run } from "headwater";
import { memoryPorts, type Ports } from "#src/host/ports/ports.js";
import { runOn } from "#src/host/run.js";
import { Random } from "#src/random.js";

/**
 * Like `run`, on a host where the parts of events that may run do so in a random order, with the newest ones rather
 * first. So events overtake each other wherever the runtime lets them, which in one thread they hardly do otherwise.
 */
export const runErratically = ((program: ContextClass, options?: RunOptions) =>
  Promise.resolve(runOn(erratic(new Random(5)), program, options))) as typeof run;

function erratic(random: Random): Ports {
  const ready: (() => void)[] = [];
  const runOne = () => {
    const newest = Math.max(0, ready.length - 3);
    const [task] = ready.splice(newest + random.int(ready.length - newest), 1);
    task?.();
  };
  return {
    ...memoryPorts,
    run(task) {
      ready.push(task);
      setImmediate(runOne);
    },
  };
}
