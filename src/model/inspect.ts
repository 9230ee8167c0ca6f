import type { Address } from "./address.js";

/** Under this name, `console.log` and `util.inspect` of Node find out how a value wants to be shown. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** Node's own `inspect`, which it lends to those it asks: the model imports nothing of Node. */
export type Inspect = (value: unknown, options: object) => string;

type Fields = Readonly<Record<string, unknown>>;

/** Shown as this text, without quotes. */
class Text {
  constructor(readonly text: string) {}

  [INSPECT](): string {
    return this.text;
  }
}

/** A context as it is shown: its address and its fields, children by the names that lead to them. */
export function showContext(
  context: object,
  address: Address,
  depth: number,
  options: object,
  inspect: Inspect,
): string {
  if (depth < 0) return `[${address}]`;
  const several = new Set(address.shape.slots.filter(({ single }) => !single).map(({ field }) => field));
  const names = new Set([...Object.keys(context), ...address.shape.fields]);
  const fields = Array.from(names, (name) => {
    const value = several.has(name) ? new Text(`${address}.${name}(…)`) : (context as Fields)[name];
    return [name, value] as const;
  });
  return `${address} ${inspect(Object.fromEntries(fields), options)}`;
}
