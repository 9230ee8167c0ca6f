import type { NodeService, Nodes, RunOptions, Service } from "./host/service.js";
import type { Context, ContextClass } from "./model/context.js";
import type { serve as serveProgram } from "./server/serve.js";

/**
 * What runs a program is loaded when one is run. Each host loads the module of its program, and with it this package, but
 * runs nothing itself: for a host, that would be more than half of what it loads, and it would be ready that much later.
 */

/**
 * Runs a program: one logical node from its root class, or several from an object of root classes. Resolves
 * once it takes requests.
 */
export function run<C extends ContextClass<Context>>(
  root: C,
  options?: RunOptions,
): Promise<Service<InstanceType<C>>>;
export function run<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export async function run(program: ContextClass<Context> | Nodes, options?: RunOptions): Promise<unknown> {
  const journal = options?.journal;
  if (typeof journal === "string" && /^(nats|tls):\/\//.test(journal)) {
    const { runInCluster } = await import("./cluster/index.js");
    return runInCluster(program, journal, options ?? {});
  }
  const loaded = await import("./host/run.js");
  return loaded.run(program as Nodes, options);
}

/** Makes the functions of an API reachable over HTTP and WebSocket. Resolves once it listens. */
export const serve: typeof serveProgram = async (...given) => {
  const loaded = await import("./server/serve.js");
  return loaded.serve(...given);
};
