import type { Expression } from "./expression.js";
import type { Plan } from "./physical.js";

/**
 * How a query can be divided into partitions that never meet. Rows that agree in the columns of `by`, given for each table that
 * the query reads, go to one partition; a query that keeps nothing takes any row anywhere.
 */
export type Partitioning =
  | { readonly kind: "any" }
  | { readonly kind: "by"; readonly columns: Readonly<Record<string, readonly number[]>> }
  | { readonly kind: "none"; readonly because: string };

/** A value that all rows that meet agree in: where it stands in the rows of a plan, and where in those of its tables. */
interface Thread {
  readonly places: readonly number[];
  readonly columns: Readonly<Record<string, number>>;
}

/**
 * Follows columns of tables upwards through the plan. An operator that keeps rows lets them meet by its keys, so only the
 * columns among its keys are left above it; in a join, they are a pair of equal keys of both sides.
 */
export function partitioningOf(plan: Plan): Partitioning {
  if (isStateless(plan)) return { kind: "any" };
  const threads = threadsOf(plan);
  if (typeof threads === "string") return { kind: "none", because: threads };
  const [first] = threads;
  if (first === undefined) return { kind: "none", because: "its rows meet by no column of its inputs" };
  const tables = Object.keys(first.columns);
  return {
    kind: "by",
    columns: Object.fromEntries(
      tables.map((table) => [table, [...new Set(threads.map(({ columns }) => columns[table] ?? 0))]]),
    ),
  };
}

/** Values that all rows that meet agree in: for each, the column of each table. Empty where there are none. */
export function meetingColumns(plan: Plan): readonly Readonly<Record<string, number>>[] {
  const threads = threadsOf(plan);
  return typeof threads === "string" ? [] : threads.map(({ columns }) => columns);
}

function isStateless(plan: Plan): boolean {
  if (plan.kind === "scan") return true;
  if (plan.kind === "step") return isStateless(plan.input);
  return plan.kind === "union" && plan.inputs.every(isStateless);
}

/** What is left to divide a plan by, or why there is nothing. */
function threadsOf(plan: Plan): readonly Thread[] | string {
  switch (plan.kind) {
    case "unit":
      return "it has a part without FROM, whose one row has no place";
    case "scan":
      return plan.columns.map((_, index) => ({ places: [index], columns: { [plan.table]: index } }));
    case "step": {
      const { step } = plan;
      const input = threadsOf(plan.input);
      if (typeof input === "string" || step.kind !== "project") return input;
      return moved(input, (place) => indexesOf(step.outputs, place));
    }
    case "aggregate":
      if (plan.keys.length === 0)
        return "it has an aggregate without GROUP BY, which takes all rows together";
      return kept(threadsOf(plan.input), "GROUP BY", (place) => indexesOf(plan.keys, place));
    case "session":
      return kept(threadsOf(plan.input), "SESSION", (place) => (plan.keys.includes(place) ? [place] : []));
    case "over":
      return kept(threadsOf(plan.input), "PARTITION BY", (place) =>
        plan.keys.includes(place) ? [place] : [],
      );
    case "sort":
      if (plan.limit === null && plan.offset === 0) return threadsOf(plan.input);
      return "it has a LIMIT, which takes all rows together";
    case "union":
      return plan.inputs.map(threadsOf).reduce(united);
    case "join":
      return joined(plan);
  }
}

function moved(threads: readonly Thread[], to: (place: number) => readonly number[]): readonly Thread[] {
  return threads.map(({ places, columns }) => ({ places: places.flatMap(to), columns }));
}

function kept(
  threads: readonly Thread[] | string,
  what: string,
  to: (place: number) => readonly number[],
): readonly Thread[] | string {
  if (typeof threads === "string") return threads;
  const left = moved(threads, to).filter(({ places }) => places.length > 0);
  return left.length > 0 ? left : `its ${what} has no column of its inputs that all rows that meet agree in`;
}

function indexesOf(expressions: readonly Expression[], place: number): number[] {
  return expressions.flatMap((each, i) => (each.kind === "column" && each.index === place ? [i] : []));
}

function united(one: readonly Thread[] | string, other: readonly Thread[] | string) {
  if (typeof one === "string") return one;
  if (typeof other === "string") return other;
  const both = one.flatMap((a) =>
    other.flatMap((b) =>
      merged(
        a,
        b,
        a.places.filter((place) => b.places.includes(place)),
      ),
    ),
  );
  return both.filter(({ places }) => places.length > 0);
}

function joined({ join, left, right, leftKeys, rightKeys }: Extract<Plan, { kind: "join" }>) {
  const [lefts, rights] = [threadsOf(left), threadsOf(right)];
  if (typeof lefts === "string") return lefts;
  if (typeof rights === "string") return rights;
  const width = left.columns.length;
  const pairs = leftKeys.flatMap((a, i) => {
    const b = rightKeys[i];
    // In a mark join (NOT IN), a NULL on one side makes the truth unknown for all rows of the other, wherever they are.
    const isAlike =
      b !== undefined &&
      a.type === b.type &&
      a.scale === b.scale &&
      (join !== "mark" || (!a.nullable && !b.nullable));
    return isAlike && a.kind === "column" && b.kind === "column" ? [[a.index, b.index] as const] : [];
  });
  const both = lefts.flatMap((a) =>
    rights.flatMap((b) => {
      if (!pairs.some(([x, y]) => a.places.includes(x) && b.places.includes(y))) return [];
      const behind = b.places.map((place) => place + width);
      // A row that meets none has NULLs for the other side: that side does not tell its partition any more.
      const places = {
        inner: [...a.places, ...behind],
        right: behind,
        full: [],
        left: a.places,
        semi: a.places,
        anti: a.places,
        mark: a.places,
      }[join];
      return merged(a, b, places);
    }),
  );
  if (both.length > 0) return both;
  return join === "mark"
    ? "its IN compares values that can be NULL, and NULL meets all rows"
    : "it joins its inputs by no two columns of one type";
}

/** A table that is read twice must be divided by one column. */
function merged(a: Thread, b: Thread, places: readonly number[]): Thread[] {
  const isOne = Object.entries(b.columns).every(([table, column]) => (a.columns[table] ?? column) === column);
  return isOne ? [{ places, columns: { ...a.columns, ...b.columns } }] : [];
}
