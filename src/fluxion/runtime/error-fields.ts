import { StageRefusal } from "./refusal.js";
import { withoutWorker } from "./stack.js";

/** Errors of these classes keep their class; those of a program's or a package's own are refused. */
const CLASSES = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
] as const;

export interface ErrorFields {
  /** The position of its class in the list. */
  readonly class: number;
  /** Name, value, and whether it is enumerable, writable, configurable (bits). */
  readonly own: readonly (readonly [name: string, value: unknown, bits: number])[];
  /** Node's own errors have a `toString` that shows their code. */
  readonly showsCode: boolean;
}

export function fieldsOf(error: Error): ErrorFields {
  const own: [string, unknown, number][] = [];
  for (const key of Reflect.ownKeys(error)) {
    if (typeof key === "symbol")
      throw new StageRefusal("a field of an error whose name is a symbol would be lost");
    const field = Object.getOwnPropertyDescriptor(error, key);
    if (field === undefined) continue;
    if (key !== "stack" && !("value" in field)) throw new StageRefusal(`"${key}" of an error is a getter`);
    const value: unknown = key === "stack" ? stackOf(error) : field.value;
    const isWritable = key === "stack" || field.writable === true;
    own.push([key, value, (field.enumerable ? 1 : 0) | (isWritable ? 2 : 0) | (field.configurable ? 4 : 0)]);
  }
  return { ...classOf(error), own };
}

function stackOf({ stack }: Error): unknown {
  return typeof stack === "string" ? withoutWorker(stack) : stack;
}

/** Node's own errors are of hidden classes, one for each code, which say that they are the class above them. */
function classOf(error: Error): Pick<ErrorFields, "class" | "showsCode"> {
  const prototype: unknown = Object.getPrototypeOf(error);
  const position = CLASSES.findIndex((each) => each.prototype === prototype);
  if (position >= 0) return { class: position, showsCode: false };
  const said = (CLASSES as readonly unknown[]).indexOf(error.constructor);
  if (said >= 0 && isOfNode(prototype)) return { class: said, showsCode: true };
  throw new StageRefusal(`an error of class ${error.constructor?.name} cannot be copied`);
}

/** Makes a copy of an error what the original is. */
export function restoreFields(error: Error, fields: ErrorFields): void {
  Object.setPrototypeOf(error, CLASSES[fields.class]?.prototype ?? Error.prototype);
  for (const key of Reflect.ownKeys(error)) Reflect.deleteProperty(error, key);
  for (const [name, value, bits] of fields.own) {
    Object.defineProperty(error, name, {
      value,
      enumerable: (bits & 1) !== 0,
      writable: (bits & 2) !== 0,
      configurable: (bits & 4) !== 0,
    });
  }
  if (fields.showsCode) Object.defineProperty(error, "toString", hidden(showingCode));
}

function showingCode(this: Error & { code?: unknown }): string {
  return `${this.name} [${String(this.code)}]: ${this.message}`;
}

function hidden(value: unknown): PropertyDescriptor {
  return { value, enumerable: false, writable: true, configurable: true };
}

function isOfNode(prototype: unknown): boolean {
  for (let at = prototype; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
    const marks = Object.getOwnPropertySymbols(at);
    if (marks.some(({ description }) => description === "kIsNodeError")) return true;
  }
  return false;
}
