import type { Choices } from "../choices.js";
import type { State } from "./state.js";

/** What code of a program can use where it stands. */
export interface Scope {
  readonly states: readonly State[];
  /** Functions that take long. */
  readonly heavy: readonly Heavy[];
  /** Names of values that are there. */
  readonly locals: readonly string[];
  readonly isAsync: boolean;
  /** There is a request at hand. */
  readonly hasRequest: boolean;
  /** What a middleware has put into requests, and how it is read. */
  readonly inRequests: string[];
  /** How many things it may still begin that go on by themselves. */
  readonly budget: { chains: number };
}

export interface Heavy {
  readonly name: string;
  readonly declared: string;
  readonly isAsync: boolean;
  /** It takes an object that it may change. */
  readonly takesObject: boolean;
  /** An object of the file that it gives back. */
  readonly gives?: string;
}

export class Writer {
  #next = 0;

  constructor(readonly choices: Choices) {}

  name(of: string): string {
    return `${of}${this.#next++}`;
  }

  /** An expression that gives a number or a text. */
  value(scope: Scope, depth = 2): string {
    const { choices } = this;
    const kind = choices.int(depth > 0 ? 9 : 3);
    if (kind === 8 && scope.hasRequest && scope.inRequests.length > 0) return choices.pick(scope.inRequests);
    if (kind === 1 && scope.hasRequest) return "req.query.q";
    if (kind === 2 && scope.locals.length > 0) return choices.pick(scope.locals);
    if (kind === 3) return this.read(scope);
    if (kind === 4) return `\`a\${${this.value(scope, depth - 1)}}\``;
    if (kind === 5) return this.heavyCall(scope, depth - 1);
    if (kind === 6) return `[${this.value(scope, depth - 1)}, 2].map((each) => each + 1).join("-")`;
    if (kind === 7) return `({ a: ${this.value(scope, depth - 1)} }).a`;
    return String(1 + choices.int(3));
  }

  /** A call of a heavy function, where that needs no `await`. */
  heavyCall(scope: Scope, depth: number): string {
    const plain = scope.heavy.filter(({ isAsync }) => !isAsync);
    if (plain.length === 0) return "1";
    return this.call(this.choices.pick(plain), scope, depth);
  }

  call({ name, takesObject }: Heavy, scope: Scope, depth: number): string {
    return takesObject
      ? `${name}({ x: ${this.value(scope, depth)} })`
      : `${name}(${this.value(scope, depth)})`;
  }

  read(scope: Scope): string {
    const reads = scope.states.flatMap((state) => state.reads).filter((each) => this.#fits(each, scope));
    return reads.length === 0 ? "1" : this.choices.pick(reads);
  }

  write(scope: Scope): string {
    const state = scope.states.length === 0 ? null : this.choices.pick(scope.states);
    const written = state === null ? "" : this.choices.pick(state.writes)(this.#number());
    return this.#fits(written, scope) ? written : "";
  }

  #number(): string {
    return String(1 + this.choices.int(3));
  }

  #fits(text: string, { hasRequest }: Scope): boolean {
    return hasRequest || !/\breq\b/.test(text);
  }
}
