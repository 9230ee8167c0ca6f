import type { Batch, Schema } from "../columns/index.js";
import type { Expression, Plan, Step } from "../plan/index.js";
import type { Bag, KeyedTable } from "../tables/index.js";
import { specOf } from "./aggregate-state.js";
import { Code, type Value } from "./code.js";
import { compile } from "./expression.js";
import { functionOf, type RowErrors } from "./function.js";
import { Key } from "./key.js";
import { columnsOf, guarded, rowLoop, rowSteps } from "./row.js";
import { emptyOutput, Target } from "./target.js";

export type Join = Extract<Plan, { kind: "join" }>;
export type Side = "left" | "right";

/** One table of keys for both sides, with the heads of their chains, and the rows of each side. */
export interface JoinState {
  readonly keys: KeyedTable;
  readonly left: Bag;
  readonly right: Bag;
}

/** The columns of the table of keys: the key, then the heads of the left and of the right chain. */
export function joinKeys({ leftKeys, rightKeys }: Join): Schema {
  const keys = leftKeys.map((key, i) =>
    specOf(`key${i}`, { ...key, nullable: false, scale: Math.max(key.scale, rightKeys[i]?.scale ?? 0) }),
  );
  return [...keys, specOf("left", HEAD), specOf("right", HEAD)];
}

const HEAD = { type: "int", nullable: false, scale: 0 } as const;

export type Probe = (input: Batch, state: JoinState, errors: RowErrors) => Batch;

/**
 * One side of a symmetric hash join: each row that comes is added to its own side's chain, and meets the rows that the
 * other side has under its key, so each pair is made once, by the row that comes later. NULL in a key meets nothing; such a row
 * is kept only where an outer join must give it at the end.
 *
 * The pairs go through the steps that follow the join before they are written.
 */
export function probe(
  plan: Join,
  side: Side,
  before: { readonly input: Schema; readonly steps: readonly Step[] },
  after: { readonly steps: readonly Step[]; readonly output: Schema },
): Probe {
  const code = new Code();
  const other: Side = side === "left" ? "right" : "left";
  const own = plan[side].columns;
  const keys: readonly Expression[] = side === "left" ? plan.leftKeys : plan.rightKeys;
  const schema = joinKeys(plan);
  const [ownHead, otherHead] =
    side === "left" ? [schema.length - 2, schema.length - 1] : [schema.length - 1, schema.length - 2];
  code.line(
    "const out = output.out, table = output.keys;",
    `const own = output.${side}, other = output.${other};`,
  );
  const row = columnsOf(code, "input", before.input, "i");
  const met = columnsOf(code, "other", plan[other].columns, "j");
  const target = new Target(code, "out", after.output);
  const key = new Key(code, "table", schema.slice(0, keys.length));
  code.line("let k = 0, room = out.capacity, next = other.next;", "let heads, links;");
  const hoist = [
    ...key.hoist,
    `heads = table.columns[${ownHead}].values;`,
    `links = table.columns[${otherHead}].values;`,
  ];
  code.line(...hoist);
  const keeps = plan.join === "left" && side === "left";
  rowLoop(code, () =>
    rowSteps(code, before.steps, row, (given) => {
      const values = keys.map((each) => compile(code, each, given));
      const isNull = values.flatMap(({ n }) => n ?? []);
      const pair = () => {
        key.compute(values);
        code.line(`let r = ${key.find};`);
        code.block("if (r < 0)", () => {
          code.line("r = table.insert();", ...hoist, ...key.store("r"));
          if (key.hasTexts) code.line("table.retain(r);");
        });
        code.line("const place = own.rows;");
        store(code, own, given);
        code.line("own.next[place] = heads[r];", "heads[r] = place + 1;");
        code.block("for (let j = links[r] - 1; j >= 0; j = next[j] - 1)", () =>
          guarded(code, () => {
            const all = side === "left" ? [...given, ...met] : [...met, ...given];
            const meet = () => {
              if (plan.join === "left")
                code.line(side === "left" ? "own.met[place] = 1;" : "other.met[j] = 1;");
              rowSteps(code, after.steps, all, (result) => {
                code.line(
                  "if (k === room) {",
                  "out.rows = k; out.reserve(1); room = out.capacity;",
                  ...target.hoist,
                  "}",
                );
                target.write(result);
              });
            };
            if (plan.condition === null) return meet();
            const { v, n } = compile(code, plan.condition, all);
            return code.block(n === null ? `if (${v})` : `if (!${n} && ${v})`, meet);
          }),
        );
      };
      if (isNull.length === 0) return pair();
      code.block(`if (!(${isNull.join(" || ")}))`, pair);
      if (keeps) code.block("else", () => store(code, own, given));
      return undefined;
    }),
  );
  code.line("return k;");
  const run = functionOf(code);
  return (input, state, errors) => {
    const sources = { input, other: state[other] };
    const out = emptyOutput(after.output, target.shared, sources, input.rows);
    out.rows = run(input, { ...state, out }, errors);
    return out;
  };
}

/** Adds a row to its own side. */
function store(code: Code, schema: Schema, row: readonly Value[]): void {
  code.line("own.reserve(1);", "const at = own.batch.rows++;");
  for (const [i, { type }] of schema.entries()) {
    const { v, n, text } = row[i] ?? { v: "0", n: "true" };
    const column = `own.columns[${i}]`;
    if (n !== null) code.line(`${column}.nulls[at] = ${n} ? 1 : 0;`);
    const given = (value: string) => (n === null ? value : `${n} ? 0 : ${value}`);
    if (type === "numeric") code.line(`library.setNumeric(${column}, at, ${given(v)});`);
    else if (type !== "text" && type !== "json")
      code.line(`${column}.values[at] = ${given(type === "bool" ? `(${v} ? 1 : 0)` : v)};`);
    else if (text === undefined) code.line(`${column}.codes[at] = ${given(`${column}.texts.add(${v})`)};`);
    else {
      const known = code.name("m");
      code.before(`const ${known} = new Int32Array(${text.texts}.size).fill(-1);`);
      code.line(`let ${known}c = 0;`);
      code.block(n === null ? "" : `if (!${n})`, () =>
        code.line(
          `${known}c = ${known}[${text.code}];`,
          `if (${known}c < 0) ${known}[${text.code}] = ${known}c = ${column}.texts.add(${text.texts}.get(${text.code}));`,
        ),
      );
      code.line(`${column}.codes[at] = ${known}c;`);
    }
  }
}
