import type { ContextClass, NodeService, Nodes, RunOptions, Service } from "headwater";
import { DEFAULT_LIMITS } from "#src/host/limits.js";
import { memoryPorts, type Ports } from "#src/host/ports.js";
import { Program } from "#src/host/program.js";
import { serviceFor } from "#src/host/service.js";
import { Random } from "#src/sim/random.js";

/**
 * Like `run`, on a host where the parts of events that may run do so in a random order, with the newest ones rather
 * first. So events overtake each other wherever the runtime lets them, which in one thread they hardly do otherwise.
 */
export function runErratically<C extends ContextClass>(
  root: C,
  options?: RunOptions,
): Promise<Service<InstanceType<C>>>;
export function runErratically<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export async function runErratically(
  program: ContextClass | Nodes,
  options: RunOptions = {},
): Promise<unknown> {
  const several = typeof program !== "function";
  const classes: Nodes = several ? program : { [program.name]: program };
  const running = new Program(classes, erratic(new Random(5)), {
    commitOrder: options.commitOrder ?? "observer",
    limits: DEFAULT_LIMITS,
    onError: options.onError,
  });
  return serviceFor(running, several);
}

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
