import type { OutsideCall, OutsideResult } from "../../model/outside.js";
import type { Random } from "../../random.js";
import { mix } from "../programs/index.js";
import { CallKeys } from "./call-keys.js";

interface OutsideWorld {
  recorded(position: string, result: OutsideResult<number>): void;
  pause(units: number): Promise<void> | undefined;
  broken(error: unknown): void;
}

/** What generated programs call outside: it takes time, and fails now and then. */
export class GeneratedOutside {
  readonly #keys = new CallKeys();

  constructor(
    readonly random: () => Random,
    /** Which process runs: what an earlier one has called comes too late. */
    readonly life: () => number,
    readonly world: OutsideWorld,
  ) {}

  async call(value: number, { key }: OutsideCall): Promise<number> {
    const life = this.life();
    const luck = this.random().int(4);
    const result: OutsideResult<number> =
      luck === 0
        ? { ok: false, error: { name: "Error", message: "nobody there" } }
        : { ok: true, value: mix(value, 1) };
    this.world.recorded(this.#keys.positionIn(key, this.world.broken), result);
    await this.world.pause(luck);
    if (life !== this.life()) return new Promise(() => {});
    if (result.ok) return result.value;
    throw new Error(result.error.message);
  }
}
