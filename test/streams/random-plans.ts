import { type Cell, type ColumnType, column, type Schema } from "#src/streams/columns/index.js";
import type { Expression, Type } from "#src/streams/plan/expression.js";
import type { Aggregate, JoinKind, Plan, RowStep } from "#src/streams/plan/physical.js";
import fc from "../properties.js";

/** Random typed expressions and plans over one table that has every type, nullable and not. */
export const TABLE: Schema = [
  column("i", "int", false),
  column("j", "int"),
  column("f", "float"),
  column("b", "bool"),
  column("t", "text", false),
  column("u", "text"),
  column("ts", "timestamp"),
  column("c", "bool", false),
];

/** Few values, so that rows meet, and those at the limits. */
const VALUES: Readonly<Record<string, readonly Cell[]>> = {
  int: [0, 1, -1, 2, 3, 7, -5, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 3_037_000_500],
  float: [0, -0, 0.5, 1.5, 2.5, -2.5, Number.NaN, Number.POSITIVE_INFINITY, 1e308, 5e-324, -7],
  bool: [true, false],
  text: ["", "a", "b", "ab", "a%b", "é", "😀b", "12", " -3 ", "x\\", "_"],
  timestamp: [0, 1, 999, 1000, 1001, 4500, -1, 7000.5],
};

const COMMON: Readonly<Record<string, readonly Cell[]>> = {
  ...VALUES,
  int: [0, 1, -1, 2, 3, 7],
  float: [0.5, 1.5, 2.5, -2.5, 8],
};

const cell = (type: ColumnType, nullable: boolean) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...(COMMON[type] ?? [])) },
    fc.constantFrom(...(VALUES[type] ?? []), ...(nullable ? [null, null, null] : [])),
  );

export const row: fc.Arbitrary<Cell[]> = fc.tuple(...TABLE.map(({ type, nullable }) => cell(type, nullable)));

export const rows: fc.Arbitrary<Cell[][]> = fc.array(row, { maxLength: 25 });

type Kind = "int" | "float" | "bool" | "text" | "timestamp";
const plain = (type: Kind, nullable: boolean): Type => ({ type, nullable, scale: 0 });
const some = (operands: readonly Expression[]) => operands.some(({ nullable }) => nullable);

const made = new Map<string, fc.Arbitrary<Expression>>();

/** An expression of a type over columns of a schema. Its parts are made once: built anew they would grow with every level. */
function expression(type: Kind, schema: Schema, depth: number): fc.Arbitrary<Expression> {
  const name = `${depth} ${type} ${schema.map((spec) => `${spec.type} ${spec.nullable}`)}`;
  const known = made.get(name) ?? newExpression(type, schema, depth);
  made.set(name, known);
  return known;
}

function newExpression(type: Kind, schema: Schema, depth: number): fc.Arbitrary<Expression> {
  const columns = schema.flatMap((spec, index): Expression[] =>
    spec.type === type ? [{ ...plain(type, spec.nullable), kind: "column", index }] : [],
  );
  const constant = fc
    .constantFrom<Cell>(...(COMMON[type] ?? []), null)
    .map((value): Expression => ({ ...plain(type, value === null), kind: "constant", value }));
  const leaf =
    columns.length === 0
      ? constant
      : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...columns) }, constant);
  if (depth === 0) return leaf;
  const of = (kind: Kind) => expression(kind, schema, depth - 1);
  const made = INNER[type](of);
  const branch = fc.record({ when: of("bool"), result: of(type) });
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 6, arbitrary: fc.oneof(...made) },
    fc.tuple(fc.array(branch, { minLength: 1, maxLength: 2 }), fc.option(of(type))).map(
      ([branches, otherwise]): Expression => ({
        ...plain(type, otherwise === null || some([...branches.map(({ result }) => result), otherwise])),
        kind: "case",
        branches,
        otherwise,
      }),
    ),
    fc.array(of(type), { minLength: 1, maxLength: 3 }).map(
      (operands): Expression => ({
        ...plain(
          type,
          operands.every(({ nullable }) => nullable),
        ),
        kind: "coalesce",
        operands,
      }),
    ),
    fc
      .tuple(
        fc.constantFrom("greatest" as const, "least" as const),
        fc.array(of(type), { minLength: 1, maxLength: 3 }),
      )
      .map(
        ([kind, operands]): Expression => ({
          ...plain(
            type,
            operands.every(({ nullable }) => nullable),
          ),
          kind,
          operands,
        }),
      ),
  );
}

type Of = (kind: Kind) => fc.Arbitrary<Expression>;

function call(
  type: Kind,
  name: Extract<Expression, { kind: "call" }>["name"],
  ...operands: fc.Arbitrary<Expression>[]
): fc.Arbitrary<Expression> {
  return fc
    .tuple(...operands)
    .map((given): Expression => ({ ...plain(type, some(given)), kind: "call", name, operands: given }));
}

function cast(of: fc.Arbitrary<Expression>, type: Kind): fc.Arbitrary<Expression> {
  return of.map((operand): Expression => ({ ...plain(type, operand.nullable), kind: "cast", operand }));
}

function arithmetic(of: Of, type: "int" | "float"): fc.Arbitrary<Expression> {
  const operator =
    type === "int" ? fc.constantFrom("+", "-", "*", "/", "%") : fc.constantFrom("+", "-", "*", "/");
  return fc.tuple(operator as fc.Arbitrary<"+">, of(type), of(type)).map(
    ([each, left, right]): Expression => ({
      ...plain(type, some([left, right])),
      kind: "arithmetic",
      operator: each,
      left,
      right,
    }),
  );
}

const small = (of: Of) =>
  fc.oneof(
    fc
      .constantFrom(-2, -1, 0, 1, 2, 3)
      .map((value): Expression => ({ ...plain("int", false), kind: "constant", value })),
    of("int"),
  );

const INNER: Readonly<Record<Kind, (of: Of) => fc.Arbitrary<Expression>[]>> = {
  int: (of) => [
    arithmetic(of, "int"),
    arithmetic(of, "int"),
    of("int").map((operand): Expression => ({ ...plain("int", operand.nullable), kind: "negate", operand })),
    call("int", "abs", of("int")),
    call("int", "length", of("text")),
    call("int", "strpos", of("text"), of("text")),
    cast(of("text"), "int"),
    cast(of("float"), "int"),
    cast(of("bool"), "int"),
  ],
  float: (of) => [
    arithmetic(of, "float"),
    call("float", "floor", of("float")),
    cast(of("int"), "float"),
    of("float").map(
      (operand): Expression => ({ ...plain("float", operand.nullable), kind: "negate", operand }),
    ),
  ],
  bool: (of) => [
    ...(["int", "float", "text", "bool", "timestamp"] as const).map((type) =>
      fc.tuple(fc.constantFrom("=", "<>", "<", "<=", ">", ">="), of(type), of(type)).map(
        ([operator, left, right]): Expression => ({
          ...plain("bool", some([left, right])),
          kind: "compare",
          operator: operator as "=",
          left,
          right,
        }),
      ),
    ),
    fc
      .tuple(
        fc.constantFrom("and" as const, "or" as const),
        fc.array(of("bool"), { minLength: 1, maxLength: 3 }),
      )
      .map(([kind, operands]): Expression => ({ ...plain("bool", some(operands)), kind, operands })),
    fc
      .tuple(
        fc.constantFrom("and" as const, "or" as const),
        fc.array(of("bool"), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, operands]): Expression => ({ ...plain("bool", some(operands)), kind, operands })),
    of("bool").map((operand): Expression => ({ ...plain("bool", operand.nullable), kind: "not", operand })),
    fc
      .oneof(of("int"), of("text"))
      .map((operand): Expression => ({ ...plain("bool", false), kind: "is null", operand })),
    fc
      .tuple(
        of("text"),
        fc.oneof(
          of("text"),
          fc
            .constantFrom("%", "a%", "%b", "%a%", "_", "a_%", "%\\%%", "\\", "a\\_")
            .map((value): Expression => ({ ...plain("text", false), kind: "constant", value })),
        ),
      )
      .map(
        ([text, pattern]): Expression => ({
          ...plain("bool", some([text, pattern])),
          kind: "like",
          text,
          pattern,
        }),
      ),
    cast(of("int"), "bool"),
  ],
  text: (of) => [
    call("text", "concat", of("text"), of("text")),
    call("text", "upper", of("text")),
    call("text", "reverse", of("text")),
    call("text", "left", of("text"), small(of)),
    call("text", "right", of("text"), small(of)),
    call("text", "substring", of("text"), small(of), small(of)),
    call("text", "split_part", of("text"), of("text"), small(of)),
    cast(of("int"), "text"),
    cast(of("bool"), "text"),
  ],
  timestamp: (of) => [of("timestamp")],
};

const KINDS: readonly Kind[] = ["int", "float", "bool", "text", "timestamp"];
const anyKind = fc.constantFrom(...KINDS);

const specs = (outputs: readonly Type[]): Schema =>
  outputs.map(({ type, nullable }, i) => column(`x${i}`, type as ColumnType, nullable));

function steps(input: Plan): fc.Arbitrary<Plan> {
  const filter = expression("bool", input.columns, 3).map(
    (predicate): Plan => ({
      kind: "step",
      input,
      step: { kind: "filter", predicate },
      columns: input.columns,
    }),
  );
  const project = fc
    .array(
      anyKind.chain((type) => expression(type, input.columns, 3)),
      { minLength: 1, maxLength: 4 },
    )
    .map(
      (outputs): Plan => ({
        kind: "step",
        input,
        step: { kind: "project", outputs },
        columns: specs(outputs),
      }),
    );
  const times = input.columns.flatMap(({ type }, i) => (type === "timestamp" ? [i] : []));
  const window = fc
    .tuple(
      fc.constantFrom(...times, ...(times.length === 0 ? [-1] : [])),
      fc.constantFrom(1, 2, 3),
      fc.constantFrom(0, 250),
    )
    .map(([time, factor, offset]): Plan => {
      if (time < 0) return input;
      const step: RowStep = { kind: "window", time, sizeMs: 1000 * factor, slideMs: 1000, offsetMs: offset };
      return {
        kind: "step",
        input,
        step,
        columns: [
          ...input.columns,
          column("window_start", "timestamp", false),
          column("window_end", "timestamp", false),
        ],
      };
    });
  return fc.oneof(
    { weight: 3, arbitrary: filter },
    { weight: 3, arbitrary: project },
    { weight: 2, arbitrary: window },
  );
}

/** Sums of these stay in range: in which order a sum leaves it decides which row is refused. */
function remainder(left: Expression): Expression {
  const right: Expression = { ...plain("int", false), kind: "constant", value: 1000 };
  return { ...plain("int", left.nullable), kind: "arithmetic", operator: "%", left, right };
}

function aggregate(schema: Schema): fc.Arbitrary<Aggregate> {
  const filter = fc.option(expression("bool", schema, 1), { freq: 3 });
  const of = (name: Aggregate["name"], kind: Kind, type: Kind) =>
    fc.tuple(expression(kind, schema, 2), filter, fc.boolean()).map(
      ([operand, where, distinct]): Aggregate => ({
        ...plain(type, name !== "count"),
        name,
        operand,
        filter: where,
        distinct: distinct && name !== "sum",
        list: null,
      }),
    );
  return fc.oneof(
    filter.map(
      (where): Aggregate => ({
        ...plain("int", false),
        name: "count",
        operand: null,
        filter: where,
        distinct: false,
        list: null,
      }),
    ),
    anyKind.chain((kind) => of("count", kind, "int")),
    anyKind.chain((kind) => of("min", kind, kind)),
    anyKind.chain((kind) => of("max", kind, kind)),
    of("sum", "int", "int").map(
      (sum): Aggregate => ({ ...sum, operand: sum.operand === null ? null : remainder(sum.operand) }),
    ),
    of("bool_and", "bool", "bool"),
    of("bool_or", "bool", "bool"),
  );
}

function grouped(input: Plan): fc.Arbitrary<Plan> {
  const keys = fc.array(
    anyKind.chain((type) => expression(type, input.columns, 1)),
    { maxLength: 3 },
  );
  return fc.tuple(keys, fc.array(aggregate(input.columns), { maxLength: 3 })).map(([by, made]): Plan => {
    const aggregates = made.map(
      (each): Aggregate => ({
        ...each,
        nullable:
          each.name !== "count" &&
          (by.length === 0 || each.filter !== null || each.operand?.nullable !== false),
      }),
    );
    return {
      kind: "aggregate",
      input,
      keys: by,
      aggregates,
      columns: specs([...by, ...aggregates]),
    };
  });
}

const scan: Plan = { kind: "scan", table: "r", columns: TABLE };

/** With another use of the table, on columns of one type. Rows that meet are many, so there is one join in a plan. */
function joined(left: Plan): fc.Arbitrary<Plan> {
  const right: fc.Arbitrary<Plan> = fc.oneof(fc.constant(scan), steps(scan));
  const kind = fc.constantFrom<JoinKind>("inner", "left", "right", "full", "semi", "anti", "mark");
  return fc.tuple(right, kind).chain(([other, join]) => {
    const pairs = left.columns.flatMap(({ type, nullable }, i) =>
      other.columns.flatMap((spec, j): [Expression, Expression][] =>
        spec.type === type
          ? [
              [
                { ...plain(type as Kind, nullable), kind: "column", index: i },
                { ...plain(type as Kind, spec.nullable), kind: "column", index: j },
              ],
            ]
          : [],
      ),
    );
    const both = [...left.columns, ...other.columns];
    const lacking = (side: Plan, isLacking: boolean) =>
      side.columns.map((spec) => (isLacking ? { ...spec, nullable: true } : spec));
    const columns =
      join === "semi" || join === "anti"
        ? left.columns
        : join === "mark"
          ? [...left.columns, column("mark", "bool")]
          : [
              ...lacking(left, join === "right" || join === "full"),
              ...lacking(other, join === "left" || join === "full"),
            ];
    const keys = fc.subarray(pairs, { maxLength: Math.min(2, pairs.length) });
    return fc.tuple(keys, fc.option(expression("bool", both, 2))).map(
      ([on, condition]): Plan => ({
        ...{ kind: "join", join, isTemporal: false, left, right: other, condition, columns },
        leftKeys: on.map(([key]) => key),
        rightKeys: on.map(([, key]) => key),
      }),
    );
  });
}

const hasJoin = (plan: Plan) => JSON.stringify(plan).includes('"join"');

function extended(input: Plan, depth: number): fc.Arbitrary<Plan> {
  if (depth === 0) return fc.constant(input);
  const union: Plan = { kind: "union", inputs: [input, input], columns: input.columns };
  return fc
    .oneof(
      { weight: 6, arbitrary: steps(input) },
      { weight: 3, arbitrary: grouped(input) },
      ...(hasJoin(input) ? [] : [{ weight: 2, arbitrary: joined(input) }]),
      fc.constant(union),
    )
    .chain((plan) => extended(plan, depth - 1));
}

export const plan: fc.Arbitrary<Plan> = fc
  .integer({ min: 1, max: 4 })
  .chain((depth) => extended(scan, depth));
