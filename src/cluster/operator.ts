/** What an operator asks of one member, over a link of its own: `headwater cluster` does. */

import { HeadwaterError } from "../errors.js";
import type { HostInfo } from "../host/fleet/index.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { CopiesAbout } from "./copies.js";
import { dial } from "./dial.js";
import { type Hello, LINK_VERSION, Link } from "./links.js";
import type { LinkEnd } from "./world.js";

/** What a member says of itself. */
export interface MemberAbout {
  readonly isDrained: boolean;
  /** Does something start its process again when that ends? */
  readonly restarts: boolean;
  /** Of the program: equal if the classes have the same parts. */
  readonly version: string;
  /** Null: it keeps none, as a head does. */
  readonly copies: CopiesAbout | null;
}

/** What there is to ask, and what is answered. */
export interface OperatorQuestions {
  /** The hosts of the program; null if this member is not the head, or runs all events in one thread. */
  readonly hosts: readonly HostInfo[] | null;
  readonly about: MemberAbout;
  /** The head lets another member become the head, `to` or any that can: answered with its name. */
  readonly handover: string;
  /** The head moves all contexts away from the hosts of `member`, and ends those. */
  readonly dismissHosts: null;
  /** The member does not become the head any more, and offers no hosts. */
  readonly drain: null;
  /** The member is drained, and its process ends, to be started again. */
  readonly restart: null;
  /** The member is drained, and its process ends; only one that was added by a decision does so. */
  readonly retire: null;
}

type Question = keyof OperatorQuestions;

export interface OperatorRequest<Q extends Question = Question> {
  readonly question: Q;
  readonly to?: string;
  readonly member?: string;
}

export type OperatorAnswers = {
  readonly [Q in Question]: (request: OperatorRequest) => Promise<OperatorQuestions[Q]>;
};

type Answer =
  | { readonly kind: "answer"; readonly value: unknown }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

/** The member's end of such a link. */
export function answerOperator(link: LinkEnd<never>, answers: OperatorAnswers): void {
  const answer = async (request: OperatorRequest): Promise<unknown> => {
    if (Object.hasOwn(answers, request.question)) return answers[request.question](request);
    throw unanswered(`it does not know "${request.question}", which a later version may`);
  };
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
  answerMs = ANSWER_MS,
): Promise<OperatorQuestions[Q]> {
  let isLate = false;
  let link: Link<never> | null = null;
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timeout = setTimeout(() => {
      isLate = true;
      reject(unanswered(`${member} does not answer`));
    }, answerMs);
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
