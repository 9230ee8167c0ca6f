import type { Body, BodyFacts, Engine } from "../../points-to/index.js";

/** The bodies that run when one runs, itself first; files that are loaded are not among them. */
export function reached(engine: Engine, root: Body): BodyFacts[] {
  const seen = new Set<Body>();
  const found: BodyFacts[] = [];
  const waiting: Body[] = [root];
  for (let i = 0; i < waiting.length; i++) {
    const body = waiting[i] ?? root;
    const facts = engine.bodies.get(body);
    if (facts === undefined || seen.has(body)) continue;
    seen.add(body);
    found.push(facts);
    for (const targets of facts.calls.values()) waiting.push(...targets);
  }
  return found;
}
