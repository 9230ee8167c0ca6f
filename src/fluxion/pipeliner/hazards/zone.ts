import type { BodyFacts, Engine, Hazard } from "../../points-to/index.js";
import { keyOf, type Node } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

/**
 * Where the time zone is changed while the program runs. Workers begin when a program is loaded, so that what
 * it sets by then holds for them, too.
 */
function zoneIn(engine: Engine): Node | null {
  for (const { body, changes } of engine.bodies.values()) {
    if (body.type === "Program") continue;
    for (const [node, things] of changes) {
      const key = node.type === "MemberExpression" ? keyOf(node, node.property) : null;
      for (const thing of things) {
        if (thing.kind !== "builtin") continue;
        const isMeant =
          thing.path === "process.env" ? key === null || key === "TZ" : key === null || key === "env";
        if (isMeant && /^process(\.env)?$/.test(thing.path)) return node;
      }
    }
  }
  return null;
}

const ZONES = new WeakMap<WholeProgram, Node | null>();

/** What tells local time would tell another one elsewhere, if the time zone changes. */
export function zoneFacts(whole: WholeProgram, bodies: readonly BodyFacts[]): Hazard[] {
  const known = ZONES.get(whole);
  const zone = known === undefined ? zoneIn(whole.engine) : known;
  ZONES.set(whole, zone);
  if (zone === null) return [];
  const { line } = whole.engine.moduleOf(zone).place(zone);
  const reason = `it tells local time, and the program may change process.env.TZ (line ${line})`;
  const advice = "tell the time in UTC, or set the time zone when the file is loaded";
  return bodies.flatMap(({ module, times }) =>
    [...times].map((node): Hazard => ({ code: "HW-7002", node, module, reason, advice })),
  );
}
