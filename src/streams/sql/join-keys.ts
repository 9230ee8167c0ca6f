import { columnsIn, conjunction, type Expression, moved } from "../plan/index.js";

interface Meeting {
  readonly leftKeys: readonly Expression[];
  readonly rightKeys: readonly Expression[];
  readonly condition: Expression | null;
}

/**
 * How rows of two sides meet: an equality between something of the left row and something of the right is a key, by which
 * rows are found; all other conditions are asked of each pair. The first `width` columns are the left ones.
 */
export function meeting(conditions: readonly Expression[], width: number): Meeting {
  const leftKeys: Expression[] = [];
  const rightKeys: Expression[] = [];
  const rest: Expression[] = [];
  for (const condition of conditions) {
    const pair = keyPair(condition, width);
    if (pair === null) rest.push(condition);
    else {
      leftKeys.push(pair[0]);
      rightKeys.push(pair[1]);
    }
  }
  return { leftKeys, rightKeys, condition: conjunction(rest) };
}

function keyPair(condition: Expression, width: number): readonly [Expression, Expression] | null {
  if (condition.kind !== "compare" || condition.operator !== "=") return null;
  const { left, right } = condition;
  if (isOf(left, "left", width) && isOf(right, "right", width))
    return [left, moved(right, (index) => index - width)];
  if (isOf(right, "left", width) && isOf(left, "right", width))
    return [right, moved(left, (index) => index - width)];
  return null;
}

/** Whether an expression looks at columns of one side only. */
function isOf(expression: Expression, side: "left" | "right", width: number): boolean {
  const columns = columnsIn(expression);
  return columns.length > 0 && columns.every((index) => index < width === (side === "left"));
}
