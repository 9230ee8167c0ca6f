import type { Schema } from "../columns/index.js";
import type { RowStep } from "../plan/index.js";
import type { CodeBuilder, Value } from "./code.js";
import { compile } from "./expression.js";

/** The columns of a batch, by number, as values of row `i`. Their arrays are read once, before the loop. */
export function columnsOf(code: CodeBuilder, batch: string, schema: Schema, i: string): Value[] {
  return schema.map(({ type, nullable }, index) => {
    const column = code.name("c");
    const [values, nulls] = [code.name("v"), code.name("n")];
    code.line(`const ${column} = ${batch}.columns[${index}];`);
    if (nullable) code.line(`const ${nulls} = ${column}.nulls;`);
    const n = nullable ? `(${nulls}[${i}] === 1)` : null;
    const source = { batch, column: index };
    if (type === "text" || type === "json") {
      const texts = code.name("t");
      code.line(`const ${values} = ${column}.codes, ${texts} = ${column}.texts;`);
      const at = `${values}[${i}]`;
      // The code of NULL is 0, and there may be no text under it.
      const v = n === null ? `${texts}.get(${at})` : `(${n} ? "" : ${texts}.get(${at}))`;
      return { v, n, source, text: { texts, code: at } };
    }
    code.line(`const ${values} = ${column}.values;`);
    const at = `${values}[${i}]`;
    if (type === "bool") return { v: `(${at} === 1)`, n, source };
    if (type === "numeric") return { v: `(${at} === ${at} ? ${at} : ${column}.bigs.get(${i}))`, n, source };
    return { v: at, n, source };
  });
}

/** Writes the steps for one row, and inside of them what is done with each row that comes out. */
export function rowSteps(
  code: CodeBuilder,
  steps: readonly RowStep[],
  row: readonly Value[],
  consume: (row: readonly Value[]) => void,
): void {
  const [step, ...rest] = steps;
  if (step === undefined) {
    consume(row);
    return;
  }
  const next = (given: readonly Value[]) => rowSteps(code, rest, given, consume);
  switch (step.kind) {
    case "filter": {
      const { v, n } = compile(code, step.predicate, row);
      code.block(n === null ? `if (${v})` : `if (!${n} && ${v})`, () => next(row));
      return;
    }
    case "project":
      next(step.outputs.map((output) => compile(code, output, row)));
      return;
    case "window": {
      const { v, n } = row[step.time] ?? { v: "0", n: "true" };
      const time = code.bind(v);
      const inWindow = () => windows(code, step, time, (start, end) => next([...row, start, end]));
      // A row without a time is in no window.
      if (n === null) inWindow();
      else code.block(`if (!${n})`, inWindow);
    }
  }
}

/** Writes what is done with a row in each of its windows. */
function windows(
  code: CodeBuilder,
  step: Extract<RowStep, { kind: "window" }>,
  time: string,
  write: (start: Value, end: Value) => void,
): void {
  const [slide, size, offset] = [step.slideMs, step.sizeMs, step.offsetMs].map((ms) => code.constant(ms));
  const [start, end] = [code.name("w"), code.name("w")];
  const bounds = (last: string): [Value, Value] => [
    { v: start, n: null },
    { v: last, n: null },
  ];
  const from = (length: string | undefined) =>
    `Math.floor((${time} - ${offset}) / ${length}) * ${length} + ${offset}`;
  if (step.isCumulative === true) {
    code.line(`const ${start} = ${from(size)};`);
    const first = `${start} + Math.floor((${time} - ${start}) / ${slide}) * ${slide} + ${slide}`;
    const each = `for (let ${end} = ${first}; ${end} <= ${start} + ${size}; ${end} += ${slide})`;
    code.block(each, () => guarded(code, () => write(...bounds(end))));
  } else if (step.slideMs !== step.sizeMs) {
    const each = `for (let ${start} = ${from(slide)}; ${start} > ${time} - ${size}; ${start} -= ${slide})`;
    code.block(each, () => guarded(code, () => write(...bounds(`(${start} + ${size})`))));
  } else {
    code.line(`const ${start} = ${from(slide)};`);
    write(...bounds(`(${start} + ${size})`));
  }
}

/** What can fail in here is caught here: a row that is refused in one window still counts in the others. */
export function guarded(code: CodeBuilder, write: () => void): void {
  const outside = code.canFail;
  code.canFail = false;
  const { lines } = code.apart(write);
  if (code.canFail) code.line("try {", ...lines, "} catch (error) { errors.add(error); }");
  else code.line(...lines);
  code.canFail = outside;
}

/** A loop over the rows of `input`, whose body is guarded if it can fail. */
export function rowLoop(code: CodeBuilder, write: () => void): void {
  const { lines } = code.apart(() => guarded(code, write));
  code.line(
    ...code.takeBefore(),
    "const rows = input.rows;",
    "for (let i = 0; i < rows; i++) {",
    ...lines,
    "}",
  );
}

/** How many rows can come out of one at most. */
export function rowsPerRow(steps: readonly RowStep[]): number {
  return steps.reduce(
    (count, step) => (step.kind === "window" ? count * (step.sizeMs / step.slideMs) : count),
    1,
  );
}
