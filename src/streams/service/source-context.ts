import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import { readonly } from "../../model/marks.js";
import { tracked } from "../../model/tracked.js";
import type { SourceDefinition } from "../sources/index.js";

/** How far a source has come. */
export interface SourceState {
  /** What the source calls its last message that was taken; `null` before the first, and for sources without positions. */
  readonly position: number | null;
  readonly rows: number;
  /** Records that did not fit the stream. */
  readonly errors: number;
}

const SOURCES_MAX = 100;

/** The sources of a tenant as they are kept. */
export class KeptSources extends Context {
  definitions = tracked.map<string, SourceDefinition>();
  states = tracked.map<string, SourceState>();

  add(definition: SourceDefinition) {
    const { name } = definition;
    if (this.definitions.has(name))
      throw new HeadwaterError(
        "HW-5402",
        `there is a source "${name}" already. Choose another name, or deregister it.`,
      );
    if (this.definitions.size >= SOURCES_MAX)
      throw new HeadwaterError("HW-5408", `the tenant has ${SOURCES_MAX} sources. Nothing was registered.`);
    this.definitions.set(name, definition);
    this.states.set(name, { position: null, rows: 0, errors: 0 });
  }

  remove(name: string) {
    this.one(name);
    this.definitions.delete(name);
    this.states.delete(name);
  }

  move(name: string, state: SourceState) {
    this.one(name);
    this.states.set(name, state);
  }

  @readonly all(): SourceDefinition[] {
    return [...this.definitions.values()];
  }

  @readonly one(name: string): { readonly definition: SourceDefinition; readonly state: SourceState } {
    const [definition, state] = [this.definitions.get(name), this.states.get(name)];
    if (definition === undefined || state === undefined)
      throw new HeadwaterError("HW-5503", `there is no source ${JSON.stringify(name.slice(0, 80))}.`);
    return { definition, state };
  }
}
