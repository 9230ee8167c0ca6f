import type { Node, SourceModule, Variable } from "../../source/index.js";

/** What a worker needs of one file. */
export interface ModuleSlice {
  readonly module: SourceModule;
  /** Declarations and statements, as they stand in the file. */
  readonly pieces: Set<Node>;
  readonly exports: Set<string | null>;
  /** Variables whose value comes with each message. */
  readonly streamed: Set<Variable>;
  readonly names: Set<string>;
  console: boolean;
}

export function emptySlice(module: SourceModule): ModuleSlice {
  return {
    module,
    pieces: new Set(),
    exports: new Set(),
    streamed: new Set(),
    names: new Set(),
    console: false,
  };
}

/** Adds all that another slice of the same file has. */
export function addSlice(to: ModuleSlice, { pieces, exports, streamed, names, console }: ModuleSlice): void {
  for (const each of pieces) to.pieces.add(each);
  for (const each of exports) to.exports.add(each);
  for (const each of streamed) to.streamed.add(each);
  for (const each of names) to.names.add(each);
  to.console ||= console;
}
