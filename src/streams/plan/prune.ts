import { withCuts } from "./cut.js";
import type { Expression } from "./expression.js";
import {
  mappedAggregate,
  movedOver,
  operandsOfOver,
  type Plan,
  partsOf,
  type StateRetention,
} from "./physical.js";
import { columnsIn, conjunction, conjuncts, moved } from "./rewrite.js";

/**
 * Leaves unread columns out of a plan: each operator that keeps rows (joins, sessions, sorting) keeps only the columns that
 * something behind it needs, and conditions of a join that are about one side are asked before the join. Projections that
 * only select columns cost nothing, since they are fused with what reads them.
 */
export function pruned(plan: Plan): Plan {
  return narrowed(
    withCuts(plan),
    plan.columns.map((_, index) => index),
  );
}

/** The plan with these columns, in this order. */
function narrowed(plan: Plan, needed: readonly number[]): Plan {
  switch (plan.kind) {
    case "scan":
    case "unit":
      return selected(plan, needed);
    case "step":
      return narrowedStep(plan, needed);
    case "aggregate": {
      const count = plan.keys.length;
      const { span, retention } = plan;
      const isKept = (i: number) => needed.includes(count + i) || i === retention?.time;
      const kept = plan.aggregates.flatMap((_, i) => (isKept(i) ? [i] : []));
      const aggregates = kept.flatMap((i) => plan.aggregates[i] ?? []);
      const parts = [...plan.keys, ...aggregates.flatMap(partsOf)];
      const { input, move } = inputFor(plan.input, parts.flatMap(columnsIn));
      const have = [...plan.keys.map((_, i) => i), ...kept.map((i) => count + i)];
      return ordered(
        {
          kind: "aggregate",
          ...(span === undefined ? {} : { span }),
          ...retained(retention, (index) => kept.indexOf(index)),
          input,
          keys: plan.keys.map(move),
          aggregates: aggregates.map((each) => mappedAggregate(each, move)),
          columns: columnsAt(plan, have),
        },
        have,
        needed,
      );
    }
    case "union": {
      const inputs = plan.inputs.map((input) => narrowed(input, needed));
      return { kind: "union", inputs, columns: columnsAt(plan, needed) };
    }
    case "sort": {
      const have = unique([...needed, ...plan.order.map(({ index }) => index), ...timesOf(plan.retention)]);
      const place = (index: number) => have.indexOf(index);
      const order = plan.order.map((key) => ({ ...key, index: place(key.index) }));
      return ordered(
        {
          ...{ ...plan, input: narrowed(plan.input, have), order, columns: columnsAt(plan, have) },
          ...retained(plan.retention, place),
        },
        have,
        needed,
      );
    }
    case "session": {
      const width = plan.input.columns.length;
      const kept = unique([...needed.filter((index) => index < width), plan.time, ...plan.keys]);
      const have = [...kept, width, width + 1];
      const place = (index: number) => kept.indexOf(index);
      return ordered(
        {
          ...plan,
          input: narrowed(plan.input, kept),
          time: place(plan.time),
          keys: plan.keys.map(place),
          columns: columnsAt(plan, have),
        },
        have,
        needed,
      );
    }
    case "over":
      return narrowedOver(plan, needed);
    case "join":
      return narrowedJoin(plan, needed);
  }
}

function narrowedOver(plan: Extract<Plan, { kind: "over" }>, needed: readonly number[]): Plan {
  const width = plan.input.columns.length;
  const kept = plan.functions.flatMap((_, i) => (needed.includes(width + i) ? [i] : []));
  const functions = kept.flatMap((i) => plan.functions[i] ?? []);
  const own = unique([
    ...needed.filter((index) => index < width),
    ...plan.keys,
    ...plan.order.map(({ index }) => index),
    ...functions.flatMap(operandsOfOver),
    ...timesOf(plan.retention),
  ]);
  const have = [...own, ...kept.map((i) => width + i)];
  const place = (index: number) => own.indexOf(index);
  return ordered(
    {
      ...plan,
      ...retained(plan.retention, place),
      input: narrowed(plan.input, own),
      keys: plan.keys.map(place),
      order: plan.order.map((key) => ({ ...key, index: place(key.index) })),
      functions: functions.map((each) => movedOver(each, place)),
      columns: columnsAt(plan, have),
    },
    have,
    needed,
  );
}

function narrowedStep(plan: Extract<Plan, { kind: "step" }>, needed: readonly number[]): Plan {
  const { step } = plan;
  switch (step.kind) {
    case "filter": {
      const have = unique([...needed, ...columnsIn(step.predicate)]);
      const predicate = moved(step.predicate, (index) => have.indexOf(index));
      return ordered(
        {
          kind: "step",
          input: narrowed(plan.input, have),
          step: { kind: "filter", predicate },
          columns: columnsAt(plan, have),
        },
        have,
        needed,
      );
    }
    case "project": {
      const outputs = needed.flatMap((index) => step.outputs[index] ?? []);
      const { input, move } = inputFor(plan.input, outputs.flatMap(columnsIn));
      return {
        kind: "step",
        input,
        step: { kind: "project", outputs: outputs.map(move) },
        columns: columnsAt(plan, needed),
      };
    }
    case "window": {
      const width = plan.input.columns.length;
      const kept = unique([...needed.filter((index) => index < width), step.time]);
      const have = [...kept, width, width + 1];
      const window = { ...step, time: kept.indexOf(step.time) };
      return ordered(
        { kind: "step", input: narrowed(plan.input, kept), step: window, columns: columnsAt(plan, have) },
        have,
        needed,
      );
    }
  }
}

function narrowedJoin(plan: Extract<Plan, { kind: "join" }>, needed: readonly number[]): Plan {
  const width = plan.left.columns.length;
  const isLeft = (index: number) => index < width;
  const about = (side: "left" | "right", condition: Expression) =>
    columnsIn(condition).every((index) => isLeft(index) === (side === "left"));
  const { join } = plan;
  const all = conjuncts(plan.condition);
  // A row that comes out whether it meets the condition or not is not left out before the join; nor is one whose condition
  // may be unknown, where that counts.
  const early = {
    left: ["inner", "semi", "right"].includes(join) ? all.filter((each) => about("left", each)) : [],
    // A version that does not meet the condition is still the version of its time.
    right:
      ["inner", "left", "semi", "anti"].includes(join) && plan.asOf === undefined
        ? all.filter((each) => about("right", each))
        : [],
  };
  const late = all.filter((each) => !early.left.includes(each) && !early.right.includes(each));
  const isLeftOnly = join === "semi" || join === "anti" || join === "mark";
  const inPairs = late.flatMap(columnsIn);
  const { retention } = plan;
  const left = unique([
    ...[...needed, ...inPairs].filter(isLeft),
    ...plan.leftKeys.flatMap(columnsIn),
    ...timesOf(retention?.left),
    ...(plan.asOf === undefined ? [] : [plan.asOf.left]),
  ]);
  const right = unique([
    ...[...(isLeftOnly ? [] : needed), ...inPairs]
      .filter((index) => !isLeft(index))
      .map((index) => index - width),
    ...plan.rightKeys.flatMap(columnsIn),
    ...timesOf(retention?.right),
    ...(plan.asOf === undefined ? [] : [plan.asOf.right]),
  ]);
  const pair = [...left, ...right.map((index) => index + width)];
  const have = join === "mark" ? [...left, width] : isLeftOnly ? left : pair;
  const onRight = early.right.map((each) => moved(each, (index) => index - width));
  return ordered(
    {
      ...plan,
      left: narrowed(filtered(plan.left, early.left), left),
      right: narrowed(filtered(plan.right, onRight), right),
      leftKeys: plan.leftKeys.map((key) => moved(key, (index) => left.indexOf(index))),
      rightKeys: plan.rightKeys.map((key) => moved(key, (index) => right.indexOf(index))),
      condition: conjunction(late.map((each) => moved(each, (index) => pair.indexOf(index)))),
      columns: columnsAt(plan, have),
      ...(plan.asOf === undefined
        ? {}
        : { asOf: { left: left.indexOf(plan.asOf.left), right: right.indexOf(plan.asOf.right) } }),
      ...(retention === undefined
        ? {}
        : {
            retention: {
              left: placed(retention.left, (index) => left.indexOf(index)),
              right: placed(retention.right, (index) => right.indexOf(index)),
            },
          }),
    },
    have,
    needed,
  );
}

function timesOf(retention: StateRetention | null | undefined): readonly number[] {
  return retention == null ? [] : [retention.time];
}

function placed(retention: StateRetention | null, place: (index: number) => number): StateRetention | null {
  return retention === null ? null : { ...retention, time: place(retention.time) };
}

function retained(
  retention: StateRetention | undefined,
  place: (index: number) => number,
): { readonly retention?: StateRetention } {
  return retention === undefined ? {} : { retention: { ...retention, time: place(retention.time) } };
}

function filtered(input: Plan, conditions: readonly Expression[]): Plan {
  const predicate = conjunction(conditions);
  return predicate === null
    ? input
    : { kind: "step", input, step: { kind: "filter", predicate }, columns: input.columns };
}

/** An input with the columns that are looked at, and what moves expressions to them. */
function inputFor(
  input: Plan,
  columns: readonly number[],
): { readonly input: Plan; readonly move: (expression: Expression) => Expression } {
  const have = unique(columns);
  return {
    input: narrowed(input, have),
    move: (expression) => moved(expression, (index) => have.indexOf(index)),
  };
}

function columnsAt(plan: Plan, indexes: readonly number[]): Plan["columns"] {
  return indexes.flatMap((index) => plan.columns[index] ?? []);
}

/** The plan has the columns `have` of an earlier one; `needed` are wanted, in their order. */
function ordered(plan: Plan, have: readonly number[], needed: readonly number[]): Plan {
  return selected(
    plan,
    needed.map((index) => have.indexOf(index)),
  );
}

function selected(input: Plan, indexes: readonly number[]): Plan {
  const isSame = indexes.length === input.columns.length && indexes.every((index, i) => index === i);
  if (isSame) return input;
  const columns = columnsAt(input, indexes);
  const outputs = indexes.map((index, i): Expression => {
    const { type = "int", nullable = true, scale = 0 } = columns[i] ?? {};
    return { kind: "column", index, type, nullable, scale };
  });
  return { kind: "step", input, step: { kind: "project", outputs }, columns };
}

function unique(indexes: readonly number[]): number[] {
  return [...new Set(indexes)];
}
