import type { Pipeline } from "../pipeline.js";
import { isMeasuredSmall } from "../profile.js";
import type { Fluxion } from "./fluxion.js";

const DISPATCHER = "express_dispatcher";
const GOES_ON = /\bnext\(([^()]*)\)/g;

/**
 * Section 4.2.2: a part that leaves the main loop cannot call `next` itself. It sends what it changed to a fluxion in
 * main's group, which has the request and calls the original function (listing 5).
 */
export function withDispatcher(fluxions: readonly Fluxion[], { stages }: Pipeline): Fluxion[] {
  const moving = stages.filter((each) => each.kind === "part" && !isMeasuredSmall(each));
  const moved = new Set(moving.map(({ name }) => name));
  const groups = fluxions.find(({ name }) => name === "main")?.groups ?? [];
  const goesOn = (each: Fluxion) => moved.has(each.name) && each.code.search(GOES_ON) >= 0;
  if (!fluxions.some(goesOn)) return [...fluxions];
  const changed = fluxions.map((each): Fluxion => {
    if (!goesOn(each)) return each;
    const code = each.code.replaceAll(GOES_ON, (_, error: string) => {
      const sent = ["req", ...(error === "" ? [] : [error]), `-> ${DISPATCHER}`];
      return `next_placeholder(${sent.join(", ")})`;
    });
    return { ...each, code, streams: [...each.streams, { kind: "post", to: [DISPATCHER], message: [] }] };
  });
  const dispatcher: Fluxion = {
    name: DISPATCHER,
    groups,
    context: ["req"],
    streams: [],
    code: "function (modified_req) {\n  merge(req, modified_req);\n  next();\n}",
  };
  return [...changed, dispatcher];
}
