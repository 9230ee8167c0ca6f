import { RowErrors } from "../codegen/index.js";
import type { EmitMode, Inputs, Plan, Traits } from "../plan/index.js";
import { traitsOf } from "../plan/index.js";
import type { State } from "../tables/index.js";
import { LateRows } from "./late.js";

/** What the operators of one query share. */
export class Site {
  readonly errors = new RowErrors();
  readonly late = new LateRows();
  readonly #kept: State[] = [];

  constructor(
    readonly mode: EmitMode,
    readonly inputs: Inputs,
  ) {}

  /** What is known of the rows that an operator is given. */
  traits(plan: Plan): Traits {
    return traitsOf(plan, this.inputs, this.mode);
  }

  /** Makes a piece of state part of checkpoints. Operators are made in one order, so its number says whose it is. */
  keep<S extends State>(state: S): S {
    this.#kept.push(state);
    return state;
  }

  get kept(): readonly State[] {
    return this.#kept;
  }
}
