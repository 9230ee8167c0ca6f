import type { Node, ScanToken } from "libpg-query";
import { HeadwaterError } from "../../errors.js";
import type { Emit } from "../plan.js";
import { type Offsets, pointAt, type Span } from "../source.js";
import type { Adapted, VersionWords, WatermarkWords } from "./tokens.js";

/** Deeper than anybody writes, and far from the end of the stack. */
const DEPTH_MAX = 200;

/**
 * What the two halves of the parser share: the text, from PostgreSQL's positions to spans, and how to refuse.
 * PostgreSQL says where a node begins; where it ends is read off the tokens.
 */
export class StatementReader {
  readonly text: string;
  readonly #adapted: Adapted;
  readonly #offsets: Offsets;
  readonly #tokenAt = new Map<number, number>();
  #depth = 0;

  constructor(text: string, adapted: Adapted, offsets: Offsets) {
    this.text = text;
    this.#adapted = adapted;
    this.#offsets = offsets;
    for (const [i, { start }] of adapted.tokens.entries()) this.#tokenAt.set(start, i);
  }

  /** What the statement says about when results are given. */
  get emit(): Emit | null {
    return this.#adapted.emit;
  }

  /** What stands in `WITH (...)` at the end of the statement. */
  get options(): Readonly<Record<string, string>> {
    return this.#adapted.options;
  }

  /** What FOR SYSTEM_TIME AS OF says behind the name of a table. */
  version(location: number | undefined): VersionWords | null {
    return this.#adapted.versions.get(location ?? -1) ?? null;
  }

  get createsStream(): boolean {
    return this.#adapted.createsStream;
  }

  get watermark(): WatermarkWords | null {
    return this.#adapted.watermark;
  }

  get whole(): Span {
    return { start: 0, end: this.text.trimEnd().length };
  }

  name(name: string | undefined): string {
    return this.#adapted.written(name ?? "");
  }

  /** The token at a place, `a.b.c` as one, and with `(...)` after it if it is a call. */
  span(location: number | undefined, call = false): Span {
    const first = this.#tokenAt.get(location ?? -1);
    if (first === undefined)
      return location === undefined || location < 0 ? this.whole : this.#point(location);
    let last = first;
    if (this.#word(first) === "-") last++;
    while (this.#word(last + 1) === "." && last + 2 < this.#adapted.tokens.length) last += 2;
    if (call && this.#word(last + 1) === "(") last = this.#closing(last + 1);
    return this.#between(first, last);
  }

  /** From the first of some keywords after a place in the text to the end of the word or parenthesis it opens. */
  spanOfWord(word: string, near: Span): Span {
    const found = this.#adapted.tokens.findLast(
      (token) => token.text.toLowerCase() === word && this.#offsets.fromBytes(token.start) < near.end,
    );
    return found === undefined ? near : this.#slice(found, found);
  }

  /** The call or query in parentheses that begins somewhere at or after a place. */
  spanToClosing(location: number | undefined): Span {
    const first = this.#tokenAt.get(location ?? -1);
    if (first === undefined) return this.span(location);
    let open = first;
    while (open < this.#adapted.tokens.length && this.#word(open) !== "(") open++;
    return this.#between(first, this.#closing(open));
  }

  /** From CASE to its END. */
  spanOfCase(location: number | undefined): Span {
    const first = this.#tokenAt.get(location ?? -1);
    if (first === undefined) return this.span(location);
    let depth = 0;
    for (let i = first; i < this.#adapted.tokens.length; i++) {
      const word = this.#word(i).toLowerCase();
      if (word === "case") depth++;
      if (word === "end" && --depth === 0) return this.#between(first, i);
    }
    return this.span(location);
  }

  /** Nothing recurses deeper than this lets it, so no query can exhaust the stack. */
  deeper<T>(span: Span, work: () => T): T {
    if (this.#depth >= DEPTH_MAX)
      this.refuse(span, `The query is nested more than ${DEPTH_MAX} levels deep.`);
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  refuse(span: Span, what: string): never {
    throw new HeadwaterError("HW-5102", pointAt(this.text, span, what));
  }

  unsupported(what: string, node: Node | { location?: number } | undefined): never {
    this.refuse(this.span(locationOf(node)), `${what} is not supported.`);
  }

  #point(location: number): Span {
    const start = this.#offsets.fromBytes(location);
    return { start, end: start + 1 };
  }

  #word(i: number): string {
    return this.#adapted.tokens[i]?.text ?? "";
  }

  #closing(open: number): number {
    let depth = 0;
    for (let i = open; i < this.#adapted.tokens.length; i++) {
      if (this.#word(i) === "(") depth++;
      if (this.#word(i) === ")" && --depth === 0) return i;
    }
    return this.#adapted.tokens.length - 1;
  }

  #between(first: number, last: number): Span {
    const from = this.#adapted.tokens[first];
    const to = this.#adapted.tokens[Math.min(last, this.#adapted.tokens.length - 1)];
    return from === undefined || to === undefined ? this.whole : this.#slice(from, to);
  }

  #slice(from: ScanToken, to: ScanToken): Span {
    return { start: this.#offsets.fromBytes(from.start), end: this.#offsets.fromBytes(to.end) };
  }
}

/** The place that a node of PostgreSQL's tree, or the first thing in it that knows one, begins at. */
export function locationOf(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if ("location" in node && typeof node.location === "number" && node.location >= 0) return node.location;
  for (const child of Object.values(node)) {
    const location = locationOf(child);
    if (location !== undefined) return location;
  }
  return undefined;
}

export function cover(spans: readonly Span[]): Span {
  return {
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(...spans.map(({ end }) => end)),
  };
}

/** The parts of a name such as `t.id`, or `null` if there is more to it than names. */
export function words(nodes: readonly Node[] | undefined): string[] | null {
  const names: string[] = [];
  for (const node of nodes ?? []) {
    if (!("String" in node)) return null;
    names.push(node.String.sval ?? "");
  }
  return names;
}
