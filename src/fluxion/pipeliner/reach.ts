import type { BodyFacts } from "../values/body-facts.js";
import type { Engine } from "../values/engine.js";
import type { Body } from "../values/things.js";

/** The bodies that run when one runs, itself first; files that are loaded are not among them. */
export function reached(engine: Engine, root: Body): BodyFacts[] {
  const found = new Set<Body>();
  const waiting: Body[] = [root];
  for (const body of waiting) {
    if (found.has(body)) continue;
    found.add(body);
    for (const targets of engine.bodies.get(body)?.calls.values() ?? []) waiting.push(...targets);
  }
  return [...found].flatMap((body) => engine.bodies.get(body) ?? []);
}
