import type { Place } from "../pipeline.js";
import { Lines, SourceModule } from "../source/index.js";
import type { AwaitCut } from "./cuts.js";

/** A piece of text that takes the place of another; between equal starts, the order of the list counts. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const STEP = "  ";

/** A file in which continuations are written as functions. It says where things are in the file as its author wrote it. */
class Rewritten extends SourceModule {
  readonly #before: SourceModule;
  readonly #offsets: Offsets;

  constructor(before: SourceModule, text: string, offsets: Offsets) {
    super(before.path, text, before.format);
    this.#before = before;
    this.#offsets = offsets;
    for (const [specifier, file] of before.imports) this.imports.set(specifier, file);
  }

  override place({ start, end }: { start: number; end: number }): Place {
    return this.#before.place({ start: this.#offsets.before(start), end: this.#offsets.before(end) });
  }
}

/** Where the pieces of a new text come from. */
class Offsets {
  readonly #pieces: { readonly at: number; readonly from: number; readonly copied: boolean }[] = [];

  add(at: number, from: number, copied: boolean): void {
    this.#pieces.push({ at, from, copied });
  }

  before(offset: number): number {
    let low = 0;
    let high = this.#pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle]?.at ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    const piece = this.#pieces[low - 1];
    if (piece === undefined) return offset;
    return piece.copied ? piece.from + offset - piece.at : piece.from;
  }
}

/** `A; const x = await E; B` as `A; return E.then(async function name(x) { B })`, for each cut of a file. */
export function rewritten(
  module: SourceModule,
  cuts: readonly AwaitCut[],
  names: ReadonlyMap<AwaitCut, string>,
  value: string,
): SourceModule {
  const before = module.text;
  const depth = (at: number) =>
    STEP.repeat(cuts.filter((cut) => at >= beginningOf(cut) && at < closingOf(before, cut)).length);
  const lines = new Lines(module);
  const indent = ({ statement: { start } }: AwaitCut) => lines.indentation(start) + depth(start);
  const edits = [
    ...cuts.flatMap((cut) => editsFor(before, cut, names.get(cut) ?? "", value, indent(cut))),
    ...cuts.map((cut) => endOf(before, cut, indent(cut))).reverse(), // the last to begin is the first to end
  ];
  const offsets = new Offsets();
  let text = "";
  let at = 0;
  const copyTo = (to: number) => {
    while (at < to) {
      const next = before.indexOf("\n", at) + 1;
      const end = next === 0 || next > to ? to : next;
      const isLine = before[at - 1] === "\n" && before[at] !== "\n" && before[at] !== "\r";
      if (isLine && !lines.isInText(at)) {
        offsets.add(text.length, at, false);
        text += depth(at);
      }
      offsets.add(text.length, at, true);
      text += before.slice(at, end);
      at = end;
    }
  };
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    copyTo(edit.start);
    offsets.add(text.length, edit.start, false);
    text += edit.text;
    at = edit.end;
  }
  copyTo(before.length);
  return new Rewritten(module, text, offsets);
}

/** Where the continuation begins in the text as it was. */
function beginningOf({ awaiting, takes }: AwaitCut): number {
  return takes.kind === "value" ? awaiting.end : awaiting.argument.end;
}

/** Where the continuation ends: before the brace that closes its function, or before the line of that brace. */
function closingOf(text: string, { body }: AwaitCut): number {
  const brace = body.end - 1;
  const line = text.lastIndexOf("\n", brace) + 1;
  return line > body.start && text.slice(line, brace).trim() === "" ? line : brace;
}

function editsFor(
  text: string,
  { statement, awaiting, takes, promised }: AwaitCut,
  name: string,
  value: string,
  indent: string,
): Edit[] {
  const { argument } = awaiting;
  const [open, close] = promised === "promise" ? ["", ""] : ["Promise.resolve(", ")"];
  const parameter =
    takes.kind === "pattern" ? textOf(text, takes.pattern) : takes.kind === "value" ? value : "";
  const then = `${close}.then(async function ${name}(${parameter}) {`;
  // The statement itself follows, with the value where it was awaited.
  const again = `\n${indent}${STEP}${text.slice(statement.start, awaiting.start)}${value}`;
  return [
    { start: statement.start, end: argument.start, text: `return ${open}` },
    takes.kind === "value"
      ? { start: argument.end, end: awaiting.end, text: then + again }
      : { start: argument.end, end: statement.end, text: then },
  ];
}

function endOf(text: string, cut: AwaitCut, indent: string): Edit {
  const closing = closingOf(text, cut);
  const isLine = text[closing - 1] === "\n";
  return { start: closing, end: closing, text: isLine ? `${indent}});\n` : "}); " };
}

function textOf(text: string, { start, end }: { start: number; end: number }): string {
  return text.slice(start, end);
}
