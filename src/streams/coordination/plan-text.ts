import {
  type EmitMode,
  type Expression,
  type Inputs,
  type KeptState,
  keptBy,
  type Plan,
  type RowStep,
} from "../plan/index.js";

/** The operators of a plan, the last one first, with what each of them keeps and for how long. */
export function planText(plan: Plan, inputs: Inputs, mode: EmitMode): string[] {
  const lines: string[] = [];
  const walk = (part: Plan, depth: number): void => {
    const kept = keptText(part, inputs, mode);
    lines.push(`${"  ".repeat(depth)}${operatorText(part)}${kept === null ? "" : `  keeps ${kept}`}`);
    for (const below of inputsOf(part)) walk(below, depth + 1);
  };
  walk(plan, 0);
  return lines;
}

function inputsOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case "scan":
    case "unit":
      return [];
    case "join":
      return [plan.left, plan.right];
    case "union":
      return plan.inputs;
    default:
      return [plan.input];
  }
}

function operatorText(plan: Plan): string {
  switch (plan.kind) {
    case "scan":
      return `scan ${plan.table}`;
    case "unit":
      return "one row";
    case "step":
      return stepText(plan.step, plan.input);
    case "session":
      return `session by ${namesOf(plan.input, plan.keys) || "nothing"}, gap ${plan.gapMs} ms`;
    case "aggregate": {
      const keys = plan.keys.map((key) => text(key, plan.input)).join(", ");
      const functions = plan.aggregates.map(
        ({ name, operand, distinct }) =>
          `${name}(${distinct ? "distinct " : ""}${operand === null ? "*" : text(operand, plan.input)})`,
      );
      return [`aggregate by ${keys || "nothing"}`, ...functions].join(", ");
    }
    case "join": {
      const keys = plan.leftKeys.map((key, i) => {
        const other = plan.rightKeys[i];
        return `${text(key, plan.left)} = ${other === undefined ? "?" : text(other, plan.right)}`;
      });
      const kind = plan.asOf !== undefined ? "versioned " : plan.isTemporal ? "temporal " : "";
      return `${kind}${plan.join} join on ${keys.join(", ") || "a condition"}`;
    }
    case "union":
      return "union all";
    case "over":
      return `${plan.cut === null ? "over" : `first ${plan.cut.limit ?? "all"}`} by ${namesOf(plan.input, plan.keys) || "nothing"}`;
    case "sort":
      return `sort${plan.limit === null ? "" : `, first ${plan.limit}`}`;
  }
}

function stepText(step: RowStep, input: Plan): string {
  switch (step.kind) {
    case "filter":
      return `filter ${text(step.predicate, input)}`;
    case "project":
      return `project ${step.outputs.map((output) => text(output, input)).join(", ")}`;
    case "window":
      return `window of ${step.sizeMs} ms ${step.isCumulative === true ? "in steps of" : "every"} ${step.slideMs} ms over ${nameOf(input, step.time)}`;
  }
}

const BOUND_BY: Readonly<Record<KeptState["bound"], string>> = {
  fixed: "",
  watermark: ", until the watermark has passed it",
  retention: "",
  table: ", at most as many as the tables have",
  keys: ", which grows with the number of keys: bounded by the tenant's state bytes",
  nothing: ", for ever: bounded by the tenant's state bytes",
};

/** What an operator keeps between rounds, and what bounds it. */
function keptText(plan: Plan, inputs: Inputs, mode: EmitMode): string | null {
  if (mode === "once") return null;
  const parts = keptBy(plan, inputs, mode).map(
    (kept) => `${kept.what}${kept.bound === "retention" ? retained(plan, kept) : BOUND_BY[kept.bound]}`,
  );
  return parts.length === 0 ? null : parts.join("; ");
}

function retained(plan: Plan, { side }: KeptState): string {
  const retention =
    plan.kind === "join" && side !== undefined
      ? plan.retention?.[side]
      : plan.kind !== "join" && "retention" in plan
        ? plan.retention
        : null;
  if (retention == null) return "";
  const latest = plan.kind === "aggregate" ? plan.aggregates[retention.time]?.operand : null;
  const input = plan.kind === "join" ? plan[side ?? "left"] : "input" in plan ? plan.input : plan;
  return `, for ${retention.ms} ms by ${latest == null ? nameOf(input, retention.time) : text(latest, input)}`;
}

function namesOf(input: Plan, indexes: readonly number[]): string {
  return indexes.map((index) => nameOf(input, index)).join(", ");
}

/** Columns that a query makes on the way have no names: they are called by what they come from. */
function nameOf(plan: Plan, index: number): string {
  const name = plan.columns[index]?.name ?? "";
  if (name !== "") return name;
  if (plan.kind === "step" && plan.step.kind !== "project") return nameOf(plan.input, index);
  const key = plan.kind === "aggregate" ? plan.keys[index] : undefined;
  return key !== undefined && plan.kind === "aggregate" ? text(key, plan.input) : `column ${index + 1}`;
}

/** An expression in the words of SQL, as far as they are short. */
function text(expression: Expression, input: Plan): string {
  const again = (each: Expression) => text(each, input);
  switch (expression.kind) {
    case "column":
      return nameOf(input, expression.index);
    case "constant":
      return typeof expression.value === "string" ? `'${expression.value}'` : String(expression.value);
    case "compare":
    case "arithmetic":
      return `${again(expression.left)} ${expression.operator} ${again(expression.right)}`;
    case "and":
    case "or":
      return expression.operands.map(again).join(` ${expression.kind} `);
    case "not":
      return `not (${again(expression.operand)})`;
    case "is null":
      return `${again(expression.operand)} is null`;
    case "negate":
      return `-${again(expression.operand)}`;
    case "cast":
      return `${again(expression.operand)}::${expression.type}`;
    case "like":
      return `${again(expression.text)} like ${again(expression.pattern)}`;
    case "call":
      return `${expression.name}(${expression.operands.map(again).join(", ")})`;
    case "coalesce":
    case "greatest":
    case "least":
      return `${expression.kind}(${expression.operands.map(again).join(", ")})`;
    default:
      return expression.kind;
  }
}
