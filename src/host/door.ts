import type { Asked, Door, Listening, RelaySeries, ResultCallbacks, Series } from "../model/door.js";
import type { Payer } from "../model/share.js";
import type { Slot } from "./context/index.js";
import { type AnswerSeries, numberedRequest } from "./deduplication/index.js";
import type { RelayedNumber, Told } from "./event/index.js";
import type { Program } from "./node/index.js";

/** What a server needs of a program. */
export function doorOf(program: Program, isSingle: boolean): Door {
  return {
    refused: (refusal) => program.feed.note({ kind: "refused", ...refusal }),
    history: program.history,
    health: () => program.health(),
    roots: new Map([...program.nodes.values()].map(({ name, root }) => [name, root])),
    isSingle,
    answersMs: program.answers.limits.answersMs,
    ask: (asked, client, request, payer, waiting) => {
      if (request === undefined) return submit(program, asked, client, undefined, waiting);
      const answer = program.answers.once(request, payer, () => {
        return new Promise((resolve, reject) => {
          submit(program, asked, client, request, { resolve, reject, trace: waiting.trace });
        });
      });
      answer.then(
        (value) => waiting.resolve(value),
        (error: unknown) => waiting.reject(error),
      );
    },
    watch: ({ target, method, args }, client, waiting) => {
      const read = program.reads.open(waiting);
      program.submit(target as Slot, method, args, client, undefined, read);
      return read;
    },
    failed: (apiFunction, error) => program.failures.ofApi(apiFunction, error),
    series: (client, payer) => new ClientSeries(program, client, payer),
    relay: (gateway, payer) => relayed(program, gateway, payer),
    messages: (tell) => program.incoming?.open(tell) ?? null,
    listen: (client, onMessage) => listening(program, client, onMessage),
  };
}

/** Without a journal, a message without a listener is gone, and so is a delivered one: the listener keeps it. */
function listening(program: Program, client: string, onMessage: Parameters<Door["listen"]>[1]): Listening {
  const caller = program.clients.connect(client, onMessage, "later");
  return {
    isComplete: caller.isComplete,
    received: (upTo) => program.clients.received(caller, upTo as Told),
    leave: () => program.clients.disconnect(caller),
    forget: () => program.clients.forget(caller),
  };
}

/** As the requests of a client, but each event sees the caller for whom the gateway asks. */
function relayed(program: Program, gateway: string, payer: Payer): RelaySeries {
  const answers = program.answers.series(gateway, payer);
  answers.relayed = program.ledger?.relayed.open(gateway) ?? null;
  return {
    ask: (number, asked, client, sentUpTo, waiting) => {
      const answer = answers.once(number, sentUpTo, waiting, asked.method.readonly);
      if (answer !== null) submit(program, asked, client, answer, answer);
    },
    answered: (below) => answers.answered(below),
    leave: () => program.answers.leave(gateway),
  };
}

class ClientSeries implements Series {
  readonly #answers: AnswerSeries;

  constructor(
    readonly program: Program,
    readonly client: string,
    payer: Payer,
  ) {
    this.#answers = program.answers.series(client, payer);
  }

  ask(number: number, asked: Asked, sentUpTo: number | undefined, waiting: ResultCallbacks): void {
    const answer = this.#answers.once(number, sentUpTo, waiting);
    if (answer === null) return;
    const { program, client } = this;
    const request = program.ledger === null ? undefined : numberedRequest(client, number);
    submit(program, asked, client, request, answer);
  }

  answered(below: number): void {
    this.#answers.answered(below);
  }

  leave(): void {
    this.program.answers.leave(this.client);
  }
}

function submit(
  program: Program,
  { target, method, args }: Asked,
  client: string | undefined,
  request: string | RelayedNumber | undefined,
  waiting: ResultCallbacks,
): void {
  program.submit(target as Slot, method, args, client, request, waiting);
}
