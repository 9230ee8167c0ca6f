import { Batch, emptyColumn } from "../columns/index.js";
import { type Inputs, type Plan, withArrivals } from "../plan/index.js";

/**
 * Streams without event time whose rows a query counts by their arrival: each row gets the time of the event that brings it as a
 * last column, and the watermark of that column is the time of the latest event. The time never goes back.
 */
export class Arrivals {
  /** What the query is told of its inputs. */
  readonly inputs: Inputs;
  readonly #stamped: ReadonlySet<string>;
  timeMs: number | null = null;

  constructor(plan: Plan, inputs: Inputs) {
    const { inputs: known, stamped } = withArrivals(plan, inputs);
    [this.inputs, this.#stamped] = [known, stamped];
  }

  /** Goes on to the time of an event; whether the time has moved for any input. */
  advance(timeMs: number): boolean {
    if (this.#stamped.size === 0 || timeMs <= (this.timeMs ?? Number.NEGATIVE_INFINITY)) return false;
    this.timeMs = timeMs;
    return true;
  }

  get names(): Iterable<string> {
    return this.#stamped;
  }

  stamp(input: string, batch: Batch): Batch {
    const spec = this.inputs[input]?.schema.at(-1);
    if (!this.#stamped.has(input) || spec === undefined) return batch;
    const column = emptyColumn(spec, batch.rows);
    if (column.storage === "number") column.values.fill(this.timeMs ?? 0);
    const made = new Batch([...batch.schema, spec], [...batch.columns, column], batch.weights);
    made.rows = batch.rows;
    return made;
  }
}
