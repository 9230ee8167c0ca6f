/** What an operator asks of one member, over a link of its own: `headwater cluster` does. */

import { HeadwaterError } from "../errors.js";
import type { HostInfo } from "../host/fleet/index.js";
import type { LogPort } from "../journal/stream/log-port.js";
import { dial } from "./dial.js";
import { type Hello, LINK_VERSION, Link } from "./links.js";

/** What there is to ask, and what is answered. */
export interface OperatorQuestions {
  /** The hosts of the program; null if this member is not the head, or runs all events in one thread. */
  readonly hosts: readonly HostInfo[] | null;
}

type Question = keyof OperatorQuestions;

export interface OperatorRequest<Q extends Question = Question> {
  readonly question: Q;
}

type Answer =
  | { readonly kind: "answer"; readonly value: unknown }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

/** The member's end of such a link. */
export function answerOperator(
  link: Link<unknown>,
  answer: (request: OperatorRequest) => Promise<unknown>,
): void {
  link.listen({
    aside: (aside) => {
      answer(aside as OperatorRequest).then(
        (value) => link.tell({ kind: "answer", value } satisfies Answer),
        (error: unknown) => {
          const { code, message } = error instanceof HeadwaterError ? error : unanswered(String(error));
          link.tell({ kind: "refused", code, message } satisfies Answer);
        },
      );
    },
    batch: () => link.cut(),
    closed: () => {},
  });
}

const ANSWER_MS = 10_000;

/** Asks a member, and resolves with its answer. */
export async function askMember<Q extends Question>(
  port: LogPort,
  member: string,
  request: OperatorRequest<Q>,
): Promise<OperatorQuestions[Q]> {
  let isLate = false;
  let link: Link<never> | null = null;
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timeout = setTimeout(() => {
      isLate = true;
      reject(unanswered(`${member} does not answer`));
    }, ANSWER_MS);
  });
  const answered = (async () => {
    const socket = await dial({ port, member, isOver: () => isLate });
    if (socket === null) throw unanswered(`${member} cannot be reached`);
    const asked = new Link<never>(socket);
    link = asked;
    return new Promise<unknown>((resolve, reject) => {
      asked.listen({
        aside: (aside) => {
          const said = aside as Answer;
          if (said.kind === "answer") resolve(said.value);
          else reject(HeadwaterError.restored(said.code, said.message));
        },
        batch: () => asked.cut(),
        closed: () => reject(unanswered(`${member} has closed the connection`)),
      });
      const hello: Hello = {
        version: LINK_VERSION,
        log: port.id,
        member: "operator",
        role: "operator",
        epoch: 0,
        outline: "",
      };
      asked.tell(hello);
      asked.tell(request);
    });
  })();
  answered.catch(() => {});
  try {
    return (await Promise.race([answered, late])) as OperatorQuestions[Q];
  } finally {
    clearTimeout(timeout);
    (link as Link<never> | null)?.cut();
  }
}

function unanswered(why: string): HeadwaterError {
  return new HeadwaterError("HW-3110", `a member of the cluster did not answer: ${why}. Ask again.`);
}
