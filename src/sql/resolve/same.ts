/** The same expression, wherever it is written. */
export function sameExpression(a: unknown, b: unknown): boolean {
  const shape = (key: string, value: unknown) => (key === "span" ? undefined : value);
  return JSON.stringify(a, shape) === JSON.stringify(b, shape);
}
