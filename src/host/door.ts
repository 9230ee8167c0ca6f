import type { Asked, Door, Listening, Series, Waiting } from "../model/door.js";
import { copyKept, copyThrown, isSimple } from "../state/values.js";
import { type AnswerSeries, numberedRequest } from "./answers.js";
import type { Program } from "./program.js";
import type { Slot } from "./slot.js";

/** What a server needs of a program. */
export function doorOf(program: Program, isSingle: boolean): Door {
  return {
    history: program.history,
    health: () => program.health(),
    roots: new Map([...program.nodes.values()].map(({ name, root }) => [name, root])),
    isSingle,
    ask: (asked, client, request, waiting) => {
      if (request === undefined) return submit(program, asked, client, undefined, waiting);
      const answer = program.answers.once(request, () => {
        return new Promise((resolve, reject) => {
          askAgain(program, asked, client, request, { resolve, reject });
        });
      });
      const own = new OwnCopy(waiting);
      answer.then(
        (value) => own.resolve(value),
        (error: unknown) => own.reject(error),
      );
    },
    failed: (apiFunction, error) => program.failures.ofApi(apiFunction, error),
    series: (client) => new ClientSeries(program, client),
    listen: (client, onMessage) => listening(program, client, onMessage),
  };
}

/** Without a journal, a message that nobody listens for is gone, and so is one that was told: whoever listens keeps it. */
function listening(program: Program, client: string, onMessage: Parameters<Door["listen"]>[1]): Listening {
  const caller = program.connect(client, onMessage, "later");
  return {
    isComplete: caller.isComplete,
    received: (upTo) => program.received(caller, upTo),
    leave: () => program.disconnect(caller),
    forget: () => program.forget(caller),
  };
}

/**
 * An answer that is kept may be given several times, and an API function may change what it is given: each gets a copy of
 * its own.
 */
class OwnCopy implements Waiting {
  constructor(readonly waiting: Waiting) {}

  resolve(value: unknown): void {
    this.waiting.resolve(isSimple(value) ? value : copyKept(value));
  }

  reject(error: unknown): void {
    this.waiting.reject(copyThrown(error));
  }
}

class ClientSeries implements Series {
  readonly #answers: AnswerSeries;

  constructor(
    readonly program: Program,
    readonly client: string,
  ) {
    this.#answers = program.answers.series(client);
  }

  ask(number: number, asked: Asked, isNew: boolean, waiting: Waiting): void {
    const answer = this.#answers.once(number, new OwnCopy(waiting));
    if (answer === null) return;
    const { program, client } = this;
    if (program.ledger === null) return submit(program, asked, client, undefined, answer);
    const request = numberedRequest(client, number);
    if (isNew) submit(program, asked, client, request, answer);
    else askAgain(program, asked, client, request, answer);
  }

  answered(below: number): void {
    this.#answers.answered(below);
  }

  leave(): void {
    this.program.answers.leave(this.client);
  }
}

/** It may have been answered in an earlier run. */
function askAgain(
  program: Program,
  asked: Asked,
  client: string | undefined,
  request: string,
  waiting: Waiting,
): void {
  const kept = program.keptAnswer(request);
  if (kept === null) submit(program, asked, client, request, waiting);
  else if (kept.ok) waiting.resolve(kept.value);
  else waiting.reject(kept.value);
}

function submit(
  program: Program,
  { target, method, args }: Asked,
  client: string | undefined,
  request: string | undefined,
  waiting: Waiting,
): void {
  program.submit(target as Slot, method, args, client, request, waiting);
}
