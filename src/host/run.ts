import { Program } from "./program.js";
import type { Context, ContextClass } from "../model/context.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { memoryPorts } from "./ports.js";
import type { AnyService, Nodes, NodeService, RunOptions, Service } from "./service.js";
import { serviceFor } from "./service.js";

/**
 * Runs a program: one logical node from its root class, or several from an object of root classes. Resolves
 * once it takes requests.
 */
export function run<C extends ContextClass<Context>>(root: C, options?: RunOptions): Promise<Service<InstanceType<C>>>;
export function run<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export function run(program: ContextClass | Readonly<Record<string, ContextClass>>, options?: RunOptions): Promise<AnyService>;
export async function run(program: ContextClass | Readonly<Record<string, ContextClass>>, options: RunOptions = {}): Promise<unknown> {
  const several = typeof program !== "function";
  const classes = several ? (program as Record<string, ContextClass>) : { [program.name]: program };
  const running = new Program(classes, memoryPorts, {
    commitOrder: options.commitOrder ?? "observer",
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onError: options.onError,
  });
  return serviceFor(running, several);
}
