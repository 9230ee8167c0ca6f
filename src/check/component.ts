import { HeadwaterError } from "../errors.js";
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
  /** How many equal records of an input are worth a try, besides one. */
  sizes?(input: string): readonly number[];
  /** For one that can take many equal records at once. Left out, it gets them one after the other. */
  receiveMany?(state: State, input: string, record: DataRecord, times: number): Reaction<State>;
  /** For one that answers when it suits it: called now and then after records came, and always at the end. */
  answer?(state: State): Reaction<State>;
  /** What replicas must agree on in the end. Left out: the whole state. */
  view?(state: State): unknown;
}

/** Looks at what a module exports, and refuses it with HW-5006 if it is no component. */
export function runnableComponent(exported: unknown, module: string): RunnableComponent {
  const { initial, receive } = (exported ?? {}) as Partial<RunnableComponent>;
  if (typeof initial === "function" && typeof receive === "function") return exported as RunnableComponent;
  throw new HeadwaterError(
    "HW-5006",
    `The default export of ${module} cannot be run as a component: it needs the functions initial() and ` +
      "receive(state, input, record).",
  );
}

/** One instance of a component, with its state. */
export class RunningComponent {
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

  receive(input: string, record: DataRecord, times: number): (readonly [string, DataRecord])[] {
    const what = `receive(${input}, ${showRecord(record)})`;
    if (this.#code.receiveMany !== undefined) {
      const many = this.#code.receiveMany;
      return this.#step(what, () => many(this.#state, input, record, times));
    }
    return Array.from({ length: times }, () =>
      this.#step(what, () => this.#code.receive(this.#state, input, record)),
    ).flat();
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
      throw new HeadwaterError("HW-5006", `${this.name} failed in ${what}: ${reason}`, { cause });
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
      "HW-5006",
      `${what} of ${this.name} must return { state, emit }, where emit is a list of [output, record]. ` +
        "It must not be asynchronous.",
    );
  }
}
