import type { Head } from "./head.js";
import { type Hello, LINK_VERSION } from "./links.js";
import { answerOperator, type OperatorAnswers } from "./operator.js";
import type { LinkEnd } from "./world.js";

/** Processes that wait for the program of a new head to start. */
const WAITING_MAX = 1000;

/** Connections that other processes have opened to this one. What each is for, it says first. */
export class LinkArrivals {
  readonly #log: string;
  readonly #operator: OperatorAnswers;
  readonly #beginning: () => number;
  #waiting: { readonly link: LinkEnd<never>; readonly hello: Hello }[] = [];
  #head: Head | null = null;

  /** `beginning`: the epoch that this process has begun; 0 for none. */
  constructor(log: string, operator: OperatorAnswers, beginning: () => number) {
    this.#log = log;
    this.#operator = operator;
    this.#beginning = beginning;
  }

  /** This process is the head now, until it is cut. */
  welcome(head: Head): void {
    this.#head = head;
    for (const { link, hello } of this.#waiting.splice(0)) head.accept(link, hello);
  }

  /** It is the head no longer, and does not become it. */
  cut(): void {
    this.#head = null;
    for (const { link } of this.#waiting.splice(0)) link.cut();
  }

  /** Another process has connected, and has said what it wants. */
  take(link: LinkEnd<never>, hello: Hello): void {
    const { role, version, log, epoch } = hello;
    if (role === "operator" && version === LINK_VERSION && log === this.#log)
      return answerOperator(link, this.#operator);
    if (this.#head !== null) return this.#head.accept(link, hello);
    const isEarly = epoch > 0 && epoch === this.#beginning() && this.#waiting.length < WAITING_MAX;
    if (!isEarly) return link.cut();
    this.#waiting.push({ link, hello });
  }
}
