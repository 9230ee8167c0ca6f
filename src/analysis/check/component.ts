import { HeadwaterError } from "../../errors.js";
import { showRecord } from "./records.js";

/** What flows: plain data by attribute. */
export type DataRecord = Readonly<Record<string, unknown>>;

export interface Reaction<State> {
  readonly state: State;
  readonly emit?: readonly (readonly [output: string, record: DataRecord])[];
}

/**
 * A component that can be run: what a module exports as its default, or a query. It is a pure function on plain data:
 * the same records in the same order give the same state and the same output (section II.A).
 */
export interface RunnableComponent<State = unknown> {
  initial(): State;
  receive(state: State, input: string, record: DataRecord): Reaction<State>;
  /** For one that answers when it suits it: called now and then after records came, and always at the end. */
  answer?(state: State): Reaction<State>;
  /** What replicas must agree on in the end. Left out: the whole state. */
  view?(state: State): unknown;
}

/** One instance of a component, with its state. */
export class Running {
  readonly name: string;
  readonly #code: RunnableComponent;
  #state: unknown;

  constructor(name: string, code: RunnableComponent) {
    this.name = name;
    this.#code = code;
    this.#state = this.#checked("initial()", () => ({ state: code.initial() })).state;
  }

  get answers(): boolean {
    return this.#code.answer !== undefined;
  }

  receive(input: string, record: DataRecord): (readonly [string, DataRecord])[] {
    return this.#step(`receive(${input}, ${showRecord(record)})`, () =>
      this.#code.receive(this.#state, input, record),
    );
  }

  answer(): (readonly [string, DataRecord])[] {
    return this.#step("answer()", () => this.#code.answer?.(this.#state) ?? { state: this.#state });
  }

  view(): unknown {
    return this.#code.view === undefined ? this.#state : this.#code.view(this.#state);
  }

  #step(what: string, react: () => Reaction<unknown>): (readonly [string, DataRecord])[] {
    const { state, emit = [] } = this.#checked(what, react);
    this.#state = state;
    return [...emit];
  }

  #checked(what: string, react: () => Reaction<unknown>): Reaction<unknown> {
    let reaction: Reaction<unknown>;
    try {
      reaction = react();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new HeadwaterError("HW-5005", `${this.name} failed in ${what}: ${reason}`, { cause });
    }
    const { state, emit = [] } = reaction ?? {};
    const fits =
      state !== undefined &&
      Array.isArray(emit) &&
      emit.every(
        (each: unknown) =>
          Array.isArray(each) &&
          typeof each[0] === "string" &&
          typeof each[1] === "object" &&
          each[1] !== null,
      );
    if (fits) return reaction;
    throw new HeadwaterError(
      "HW-5005",
      `${what} of ${this.name} must return { state, emit }, where emit is a list of [output, record]. ` +
        "It must not be asynchronous.",
    );
  }
}
