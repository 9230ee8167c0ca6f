import type { BodyFacts, Hazard } from "../../points-to/index.js";
import type { Node } from "../../source/index.js";
import { keyOfThing, type WholeProgram } from "../whole/index.js";

/** `res.render` reads `app.locals` and the settings of the app, which others must not change before a later answer is rendered. */
export function renderFacts(
  whole: WholeProgram,
  bodies: readonly BodyFacts[],
  isMeant: (node: Node) => boolean = () => true,
): Hazard[] {
  const rendering = bodies.flatMap(({ module, effects }) =>
    effects.flatMap(({ node, method }) => (method === "render" && isMeant(node) ? [{ node, module }] : [])),
  );
  const change = rendering.length === 0 ? null : changeOfApps(whole);
  if (change === null) return [];
  const { line, column } = whole.engine.moduleOf(change).place(change);
  return rendering.map(({ node, module }) => ({
    code: "HW-7002",
    node,
    module,
    reason: `it renders with app.locals and the settings of the app, which are changed while the program runs (line ${line}:${column})`,
    advice: "pass what the template needs to render()",
  }));
}

/** Where an app is changed after the files were loaded. */
function changeOfApps({ program, engine, knowledge, changed }: WholeProgram): Node | null {
  for (const { top } of program.modules.values()) {
    for (const thing of top.variables.flatMap((each) => [...engine.of(each)])) {
      if (thing.kind !== "library" || !knowledge.isExpress(thing.library)) continue;
      const change = changed.get(keyOfThing(thing));
      if (thing.node !== null && change !== undefined) return change.node;
    }
  }
  return null;
}
