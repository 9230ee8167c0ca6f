import type { Context, ContextClass } from "../model/context.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { memoryPorts, type Ports } from "./ports.js";
import { Program } from "./program.js";
import {
  type AnyService,
  type NodeService,
  type Nodes,
  type RunOptions,
  type Service,
  serviceFor,
} from "./service.js";

type AnyProgram = ContextClass | Readonly<Record<string, ContextClass>>;

/**
 * Runs a program: one logical node from its root class, or several from an object of root classes. Resolves
 * once it takes requests.
 */
export function run<C extends ContextClass<Context>>(
  root: C,
  options?: RunOptions,
): Promise<Service<InstanceType<C>>>;
export function run<N extends Nodes>(nodes: N, options?: RunOptions): Promise<NodeService<N>>;
export function run(program: AnyProgram, options?: RunOptions): Promise<AnyService>;
export async function run(program: AnyProgram, options?: RunOptions): Promise<unknown> {
  return runOn(memoryPorts, program, options);
}

/** The same in a world of one's own. */
export function runOn(ports: Ports, program: AnyProgram, options: RunOptions = {}): AnyService {
  const several = typeof program !== "function";
  const running = new Program(several ? program : { [program.name]: program }, ports, {
    commitOrder: options.commitOrder ?? "observer",
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onError: options.onError,
  });
  return serviceFor(running, several);
}
