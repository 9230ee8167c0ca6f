import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import { readonly } from "../../model/marks.js";
import { tracked } from "../../model/tracked.js";
import type { DeliveryState, OutputDefinition } from "../delivery/index.js";

/** A batch that its target has refused. */
export interface DeadLetter {
  readonly first: number;
  readonly next: number;
  readonly error: string;
  readonly atMs: number;
  /** The rows as lines of NDJSON or CSV. */
  readonly lines: readonly string[];
}

/** What the dead letters of one output may take. */
export const LETTER_BYTES_MAX = 8 * 1024 * 1024;
const OUTPUTS_MAX = 100;

/** The outputs of a tenant as they are kept: definitions with their secrets, positions, dead letters. */
export class Outputs extends Context {
  definitions = tracked.map<string, OutputDefinition>();
  states = tracked.map<string, DeliveryState>();
  letters = tracked.map<string, DeadLetter>();
  letterBytes = tracked.map<string, number>();

  add(definition: OutputDefinition, state: DeliveryState) {
    const { name, target } = definition;
    if (this.definitions.has(name))
      throw new HeadwaterError(
        "HW-5402",
        `there is an output "${name}" already. Choose another name, or deregister it.`,
      );
    if (this.definitions.size >= OUTPUTS_MAX)
      throw new HeadwaterError("HW-5408", `the tenant has ${OUTPUTS_MAX} outputs. Nothing was registered.`);
    if (target.startsWith("file:") && [...this.definitions.values()].some((other) => other.target === target))
      throw new HeadwaterError("HW-5501", `another output writes to ${target}. Choose another file.`);
    this.definitions.set(name, definition);
    this.states.set(name, state);
  }

  /** Returns the definition that there was. */
  remove(name: string): OutputDefinition {
    const definition = this.definitions.get(name);
    if (definition === undefined) throw missing(name);
    this.definitions.delete(name);
    this.states.delete(name);
    this.letterBytes.delete(name);
    for (const key of this.letters.keys()) if (key.startsWith(`${name}\n`)) this.letters.delete(key);
    return definition;
  }

  move(name: string, state: DeliveryState) {
    const { position } = this.one(name).state;
    if (state.position < position)
      throw new HeadwaterError(
        "HW-5504",
        `the output "${name}" is at row ${position}, and another process delivers it: row ${state.position} was delivered twice.`,
      );
    this.states.set(name, state);
  }

  bury(name: string, letter: DeadLetter) {
    const bytes = (this.letterBytes.get(name) ?? 0) + bytesOf(letter);
    if (bytes > LETTER_BYTES_MAX)
      throw new HeadwaterError(
        "HW-5408",
        `the dead letters of the output "${name}" take ${LETTER_BYTES_MAX} bytes. The output goes on when some were replayed or dropped.`,
      );
    this.letterBytes.set(name, bytes);
    this.letters.set(keyOf(name, letter.first), letter);
  }

  /** Returns whether there was such a letter. */
  unbury(name: string, first: number): boolean {
    const letter = this.letters.get(keyOf(name, first));
    if (letter === undefined) return false;
    this.letters.delete(keyOf(name, first));
    this.letterBytes.set(name, (this.letterBytes.get(name) ?? 0) - bytesOf(letter));
    return true;
  }

  @readonly all(): (readonly [OutputDefinition, DeliveryState])[] {
    return [...this.definitions.values()].flatMap((definition) => {
      const state = this.states.get(definition.name);
      return state === undefined ? [] : [[definition, state] as const];
    });
  }

  @readonly one(name: string): {
    readonly definition: OutputDefinition;
    readonly state: DeliveryState;
    readonly deadLetters: number;
    readonly deadLetterBytes: number;
  } {
    const [definition, state] = [this.definitions.get(name), this.states.get(name)];
    if (definition === undefined || state === undefined) throw missing(name);
    const deadLetters = [...this.letters.keys()].filter((key) => key.startsWith(`${name}\n`)).length;
    return { definition, state, deadLetters, deadLetterBytes: this.letterBytes.get(name) ?? 0 };
  }

  /** The dead letters of an output, oldest first. */
  @readonly lettersOf(name: string): DeadLetter[] {
    if (!this.definitions.has(name)) throw missing(name);
    const own = [...this.letters].filter(([key]) => key.startsWith(`${name}\n`)).map(([, letter]) => letter);
    return own.sort((a, b) => a.first - b.first);
  }
}

function keyOf(name: string, first: number): string {
  return `${name}\n${first}`;
}

function bytesOf({ lines, error }: DeadLetter): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 100 + error.length);
}

function missing(name: string): HeadwaterError {
  return new HeadwaterError("HW-5503", `there is no output ${JSON.stringify(name.slice(0, 80))}.`);
}
