import { RowErrors } from "../codegen/index.js";
import type { EmitMode, Inputs, Plan, Traits } from "../plan/index.js";
import { traitsOf } from "../plan/index.js";
import { type OperatorState, Registers } from "../tables/index.js";
import { LateRows } from "./late.js";

/** What the operators of one query share. */
export class Site {
  readonly errors = new RowErrors();
  readonly late = new LateRows();
  readonly #kept: OperatorState[] = [];
  readonly #loaded: (() => void)[] = [];

  constructor(
    readonly mode: EmitMode,
    readonly inputs: Inputs,
    /** State is forgotten by the watermark, so those of all inputs are part of checkpoints. */
    readonly isForgetting = false,
  ) {}

  /** For an operator with several inputs, the watermarks of these. */
  watermarks(count: number): Registers {
    const told = new Registers(...new Array<number>(count).fill(Number.NEGATIVE_INFINITY));
    return this.isForgetting ? this.keep(told) : told;
  }

  /** What is known of the rows that an operator is given. */
  traits(plan: Plan): Traits {
    return traitsOf(plan, this.inputs, this.mode);
  }

  /** Makes a piece of state part of checkpoints. Operators are made in one order, so its number says whose it is. */
  keep<S extends OperatorState>(state: S): S {
    this.#kept.push(state);
    return state;
  }

  /** What an operator does when its state was loaded. */
  onLoad(act: () => void): void {
    this.#loaded.push(act);
  }

  loaded(): void {
    for (const act of this.#loaded) act();
  }

  get kept(): readonly OperatorState[] {
    return this.#kept;
  }
}
