import type { Document, LineCounter, Node } from "yaml";
import { HeadwaterError } from "../../errors.js";
import { requirePackage } from "../../packages.js";
import { didYouMean } from "../../suggest.js";
import type { SourcePosition } from "../graph.js";

const PROBLEMS_SHOWN_MAX = 10;

/** One key of a mapping and what stands behind it. */
export interface MappingEntry {
  readonly key: string;
  readonly keyNode: Node;
  readonly value: Node;
}

/**
 * A YAML text with its positions. Reading goes on after a problem, so that all of them are told at once; a part that
 * could not be read is `null`.
 */
export class YamlPage {
  readonly #yaml = requirePackage<typeof import("yaml")>("yaml");
  readonly #lines: LineCounter = new this.#yaml.LineCounter();
  readonly #document: Document.Parsed;
  readonly #problems: { at: number; what: string }[] = [];

  constructor(
    readonly text: string,
    readonly source: string,
  ) {
    this.#document = this.#yaml.parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      logLevel: "silent", // its warnings are about files of other programs
      uniqueKeys: false, // its check takes quadratic time; `entries` has one
    });
    for (const { pos, message } of this.#document.errors)
      this.#problems.push({ at: pos[0], what: `${message}.` });
  }

  get root(): Node | null {
    return this.#document.contents;
  }

  positionOf(node: Node | null): SourcePosition {
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0);
    return { source: this.source, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  problem(node: Node | null, what: string): null {
    this.#problems.push({ at: node?.range?.[0] ?? 0, what });
    return null;
  }

  problemAt({ line, column }: SourcePosition, what: string): void {
    const start = this.#lines.lineStarts[line - 1] ?? 0;
    this.#problems.push({ at: start + column - 1, what });
  }

  /** Throws HW-5001 if anything was wrong. */
  finish(): void {
    if (this.#problems.length === 0) return;
    const sorted = this.#problems.toSorted((a, b) => a.at - b.at);
    const shown = sorted.slice(0, PROBLEMS_SHOWN_MAX).map(({ at, what }) => this.#shown(at, what));
    const more = sorted.length - shown.length;
    if (more > 0) shown.push(`and ${more} more.`);
    throw new HeadwaterError("HW-5001", shown.join("\n"));
  }

  #shown(at: number, what: string): string {
    const { line, col } = this.#lines.linePos(at);
    const text = this.text.split("\n")[line - 1] ?? "";
    const number = String(line);
    const margin = " ".repeat(number.length);
    return [
      `${this.source}:${line}:${col}: ${what}`,
      `  ${number} | ${text}`,
      `  ${margin} | ${" ".repeat(Math.max(0, col - 1))}^`,
    ].join("\n");
  }

  /** The node itself, or the node that an alias stands for. */
  #resolved(node: Node | null): Node | null {
    return this.#yaml.isAlias(node) ? (node.resolve(this.#document) ?? null) : node;
  }

  isMapping(node: Node | null): boolean {
    return this.#yaml.isMap(this.#resolved(node));
  }

  isList(node: Node | null): boolean {
    return this.#yaml.isSeq(this.#resolved(node));
  }

  /** The entries of a mapping. */
  entries(node: Node | null, what: string): MappingEntry[] {
    const found = this.#resolved(node);
    if (!this.#yaml.isMap(found)) {
      this.problem(node, `${what} is a mapping (key: value).`);
      return [];
    }
    const seen = new Set<string>();
    return found.items.flatMap(({ key, value }) => {
      const keyNode = key as Node | null;
      if (keyNode === null || !this.#yaml.isScalar(keyNode)) {
        this.problem(keyNode, `A key of ${what} is a word.`);
        return [];
      }
      if (value === null) {
        this.problem(keyNode, `"${String(keyNode.value)}" has no value.`);
        return [];
      }
      const name = String(keyNode.value);
      if (seen.has(name)) {
        this.problem(keyNode, `${what} has "${name}" twice.`);
        return [];
      }
      seen.add(name);
      return [{ key: name, keyNode, value: value as Node }];
    });
  }

  /** A mapping with known keys only; anything else is a problem, with the nearest key named. */
  fields(node: Node | null, what: string, known: readonly string[]): Map<string, MappingEntry> {
    const fields = new Map<string, MappingEntry>();
    for (const entry of this.entries(node, what)) {
      if (known.includes(entry.key)) fields.set(entry.key, entry);
      else this.unknownKey(entry, what, known);
    }
    return fields;
  }

  unknownKey({ key, keyNode }: MappingEntry, what: string, known: readonly string[]): void {
    const hint = didYouMean(key, known) || ` There are: ${known.join(", ")}.`;
    this.problem(keyNode, `${what} has no key "${key}".${hint}`);
  }

  /** The items of a list; a node of another kind counts as a list of one, as the paper writes it. */
  items(node: Node | null): Node[] {
    const found = this.#resolved(node);
    return this.#yaml.isSeq(found) ? (found.items as Node[]) : found === null ? [] : [found];
  }

  word(node: Node | null, what: string): string | null {
    const found = this.#resolved(node);
    if (!this.#yaml.isScalar(found) || found.value === null || found.value === "") {
      return this.problem(node, `${what} is a word.`);
    }
    return String(found.value);
  }

  words(node: Node | null, what: string): string[] | null {
    const words = this.items(node).map((item) => this.word(item, what));
    const all = words.filter((word) => word !== null);
    if (all.length < words.length) return null;
    return all.length > 0 ? all : this.problem(node, `${what} is a list of words and not empty.`);
  }

  /** Plain data; null if it refers to an anchor that does not exist. */
  data(node: Node): unknown {
    try {
      return node.toJS(this.#document);
    } catch (error) {
      return this.problem(
        node,
        `This cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      );
    }
  }

  yesOrNo(node: Node, what: string): boolean | undefined {
    const found = this.#resolved(node);
    if (this.#yaml.isScalar(found) && typeof found.value === "boolean") return found.value;
    this.problem(node, `${what} is true or false.`);
    return undefined;
  }

  oneOf<T extends string>(node: Node, what: string, known: readonly T[]): T | null {
    const written = this.word(node, what);
    if (written === null) return null;
    const found = known.find((each) => each === written);
    if (found !== undefined) return found;
    const hint = didYouMean(written, known) || ` It is one of: ${known.join(", ")}.`;
    return this.problem(node, `${what} cannot be "${written}".${hint}`);
  }
}
