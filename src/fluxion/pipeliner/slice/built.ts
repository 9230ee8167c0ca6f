import { listed } from "../../listed.js";
import { reachable } from "../../points-to/index.js";
import type { Node, SourceModule } from "../../source/index.js";
import { keyOfThing, type WholeProgram } from "../whole/index.js";

/** A place where something is changed while a file is loaded. */
interface Building {
  readonly at: Node;
  readonly by: SourceModule;
}

const BUILDINGS = new WeakMap<WholeProgram, ReadonlyMap<unknown, readonly Building[]>>();

/** Where a thing is changed while files are loaded: by assignments, by its methods, or by who is given it. */
export function builtBy(whole: WholeProgram, key: unknown): readonly Building[] {
  const known = BUILDINGS.get(whole) ?? buildings(whole);
  BUILDINGS.set(whole, known);
  return key === null ? [] : (known.get(key) ?? []);
}

function buildings({ engine, program }: WholeProgram): Map<unknown, Building[]> {
  const found = new Map<unknown, Building[]>();
  for (const by of program.modules.values()) {
    const loading = engine.bodies.get(by.syntax);
    if (loading === undefined) continue;
    const { changes, unknown } = loading;
    for (const [at, things] of changes) {
      // What is given to unknown code, it may change through and through.
      const keys = new Set([...(unknown.has(at) ? reachable(things) : things)].map(keyOfThing));
      for (const key of keys) listed(found, key).push({ at, by });
    }
  }
  return found;
}

/** The statement of a file that something is in, or of several variables that are declared together the one. */
export function pieceAround(at: Node): Node {
  let piece = at;
  while (piece.parent && piece.parent.type !== "Program") {
    const outer = piece.parent;
    if (piece.type === "VariableDeclarator") {
      const around = outer.parent;
      if (around?.type === "Program" || around?.type === "ExportNamedDeclaration") return piece;
    }
    piece = outer;
  }
  return piece;
}
