/** Why what follows an `await` stays in one part with what is before it, and what would free it. */
export interface AwaitRefusal {
  readonly reason: string;
  readonly advice: string;
}

const MOVE = "move it into an asynchronous function, and await that function here";

export const refusals = {
  inTry: {
    reason: "it is awaited inside of a try, which would be left before what follows has run",
    advice: "await it in an asynchronous function, and try the call of that function",
  },
  inLoop: {
    reason: "it is awaited in a loop, which goes on after what follows",
    advice: `${MOVE}, with the rest of the loop's body`,
  },
  underCondition: {
    reason: "it is awaited only under a condition, and what follows runs in any case",
    advice: `${MOVE}, with the rest of what is under the condition`,
  },
  inBlock: {
    reason: "it is awaited in a block of its own, and what follows goes on behind that",
    advice: "await it outside of the block",
  },
  twice: {
    reason: "the statement awaits something else before",
    advice: "await one thing in each statement",
  },
  severalVariables: {
    reason: "the statement declares other variables before",
    advice: "declare each in a statement of its own",
  },
  noStatements: {
    reason: "its function has no statements that could follow",
    advice: "give it a body in braces, and await in a statement of its own",
  },
  topLevel: {
    reason: "the file itself awaits it: what follows is the program",
    advice: "await it in an asynchronous function",
  },
  generator: {
    reason: "its function is a generator, which goes on whenever it is asked",
    advice: "await it in an asynchronous function that is no generator",
  },
  using: {
    reason: "what `using` has opened would be closed before what follows has run",
    advice: "close it yourself, when it is over",
  },
  evaluates: {
    reason: "its function uses eval, which may need any of its variables",
    advice: "do without eval",
  },
  directive: {
    reason: "what follows begins with a text, which would be a directive",
    advice: "leave the text out",
  },
} as const satisfies Record<string, AwaitRefusal>;

export function readBefore(what: string): AwaitRefusal {
  return {
    reason: `${what} is looked at before the wait, and may be something else after it`,
    advice: "put what is awaited into a constant first: `const value = await …`",
  };
}

export function belongsToCall(what: string): AwaitRefusal {
  return {
    reason: `what follows uses ${what}, which belongs to the call that has ended by then`,
    advice: `take what it needs of ${what} into a constant before the await`,
  };
}

export function usedBefore(name: string): AwaitRefusal {
  return {
    reason: `${name} is declared after the await, and used before it`,
    advice: `declare ${name} before the await`,
  };
}
