import { Texts } from "../columns/index.js";

/**
 * The texts of a table's column: equal texts have one code, so that codes can be keys. A text is kept as long as rows hold
 * it: `retain` and `release` count them. A code that nothing holds is given out again only after `settle`, which is called
 * between batches: generated code remembers the codes that it asked for while a batch runs.
 */
export class TextPool extends Texts {
  readonly #codes = new Map<string, number>();
  readonly #holders: number[] = [];
  #unheld: number[] = [];
  readonly #free: number[] = [];
  #memoryBytes = 0;

  override get isLasting(): boolean {
    return false;
  }

  /** What the texts take, roughly: two bytes a character and what an entry of a map takes. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** The code of a text, or -1 if no row has it. */
  find(text: string): number {
    return this.#codes.get(text) ?? -1;
  }

  intern(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    let code = this.#free.pop();
    if (code === undefined) code = this.add(text);
    else this.replace(code, text);
    this.#codes.set(text, code);
    this.#holders[code] = 0;
    this.#unheld.push(code);
    this.#memoryBytes += weightOf(text);
    return code;
  }

  retain(code: number): void {
    this.#holders[code] = (this.#holders[code] ?? 0) + 1;
  }

  release(code: number): void {
    const left = (this.#holders[code] ?? 0) - 1;
    this.#holders[code] = left;
    if (left === 0) this.#unheld.push(code);
  }

  settle(): void {
    if (this.#unheld.length === 0) return;
    for (const code of this.#unheld) {
      if (this.#holders[code] !== 0) continue;
      const text = this.get(code);
      this.#codes.delete(text);
      this.#memoryBytes -= weightOf(text);
      this.#holders[code] = -1;
      this.replace(code, "");
      this.#free.push(code);
    }
    this.#unheld = [];
  }
}

function weightOf(text: string): number {
  return 2 * text.length + 64;
}
