import type { SourceModule } from "./module.js";
import type { Node } from "./syntax.js";

/** The lines of a file, as far as their spaces may be changed: a line that begins inside of a text is part of it. */
export class Lines {
  readonly #text: string;
  readonly #texts: readonly Node[];

  constructor({ text, texts }: SourceModule) {
    this.#text = text;
    this.#texts = texts;
  }

  /** Whether a line that begins at this offset begins inside of a text. */
  isInText(start: number): boolean {
    return this.#texts.some((each) => each.start < start && start <= each.end);
  }

  /** The spaces before the line that an offset is in, or before the one in which its text begins. */
  indentation(offset: number): string {
    let start = this.#startOf(offset);
    while (start > 0 && this.isInText(start)) start = this.#startOf(start - 1);
    return /^[ \t]*/.exec(this.#text.slice(start, offset))?.[0] ?? "";
  }

  /** A piece of the file, moved to the left. */
  without(indentation: string, from: number, to: number): string {
    let code = "";
    for (let at = from; at < to; ) {
      const next = this.#text.indexOf("\n", at) + 1;
      const end = next === 0 || next > to ? to : next;
      const line = this.#text.slice(at, end);
      const isIndented = this.#text[at - 1] === "\n" && line.startsWith(indentation) && !this.isInText(at);
      code += isIndented ? line.slice(indentation.length) : line;
      at = end;
    }
    return code;
  }

  #startOf(offset: number): number {
    return this.#text.lastIndexOf("\n", offset - 1) + 1;
  }
}
