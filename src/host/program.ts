import type { CoreEvent, Message } from "../core/event.js";
import { HeadwaterError, invariant } from "../errors.js";
import type { Address } from "../model/address.js";
import type { ContextClass } from "../model/context.js";
import { INVOKE, type Reference, reference, type Scope } from "../model/refs.js";
import * as rules from "../model/rules.js";
import { inspectTree, isKindOf, type Method } from "../model/shape.js";
import { copyAll, isSimple } from "../state/values.js";
import { Answers } from "./answers.js";
import type { Ledger, StoredAnswer } from "./ledger.js";
import {
  LogicalNode,
  type NodeMessage,
  type NodeOptions,
  nodeMessage,
  type Surroundings,
  type Told,
} from "./node.js";
import type { Ports } from "./ports.js";
import type { EventRequest, Waiting } from "./request.js";
import type { Slot } from "./slot.js";

/** An event that nobody waited for has failed: which, where, and why. */
export interface FailedEvent {
  readonly context: string;
  readonly method: string;
  readonly startedBy: "start" | "timer" | "message" | "request";
  readonly error: unknown;
}

export interface ProgramOptions extends NodeOptions {
  readonly onError?: ((failed: FailedEvent) => void) | undefined;
  readonly onSettled?: ((event: CoreEvent<EventRequest>) => void) | undefined;
}

type OnMessage = (message: unknown, from: Told) => void;

/** A connected client. */
export interface Caller {
  readonly id: string;
  readonly onMessage: OnMessage;
}

/** Who asks, as far as it is known. */
export interface Asker {
  /** A connected client, whose references stop working when it is closed. */
  readonly caller?: Caller | undefined;
  /** The name that the event sees as its caller. */
  readonly client?: string | undefined;
  /** Names the request: asked again under the same name, it has its effect once. */
  readonly request?: string | undefined;
}

let lastResolve: (value: unknown) => void;
let lastReject: (error: unknown) => void;

/** One function for all requests: a closure for each would cost a fifth of what a request allocates. */
function keepSettlers(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

function copyArguments(args: unknown[], slot: Slot, method: Method): void {
  copyAll(args, () => rules.argumentsOf(slot, method));
}

/** The logical nodes of one program, what goes on between them, and their clients. */
export class Program implements Surroundings {
  readonly nodes = new Map<string, LogicalNode>();
  readonly settled: ((event: CoreEvent<EventRequest>) => void) | undefined;
  readonly #ports: Ports;
  readonly #options: ProgramOptions;
  readonly #clients = new Map<string, Caller>();
  readonly #onTheWay = new Map<string, number>();
  readonly answers: Answers;
  #watchers: (() => void)[] = [];
  #stopped = false;
  #failure: HeadwaterError | null = null;

  constructor(classes: Readonly<Record<string, ContextClass>>, ports: Ports, options: ProgramOptions) {
    this.#ports = ports;
    this.#options = options;
    const { answersMs, answers } = options.limits;
    this.answers = new Answers(ports.now, answersMs, answers);
    this.settled = options.onSettled;
    for (const cls of Object.values(classes)) inspectTree(cls);
    for (const [name, cls] of Object.entries(classes)) {
      this.nodes.set(name, new LogicalNode(name, cls, ports, this, options));
    }
    if (this.nodes.size === 0)
      throw new HeadwaterError("HW-1017", "a program needs at least one root class.");
    if (options.ledger) this.#recover(options.ledger);
  }

  /** Goes on from the journal: events that had not committed, armed timers, messages that had not arrived. */
  #recover(ledger: Ledger): void {
    const sent = new Map<string, Map<number, Message[]>>();
    for (const node of this.nodes.values()) {
      for (const stored of ledger.pending(node.name)) {
        const { origin, args, ticket } = stored;
        if (origin.kind !== "message" || ticket > 0) continue;
        const messages = sent.get(origin.from) ?? new Map<number, Message[]>();
        sent.set(origin.from, messages);
        const message = nodeMessage({ ...node.find(stored), args, origin });
        messages.set(origin.parent, [...(messages.get(origin.parent) ?? []), message]);
      }
    }
    for (const node of this.nodes.values()) node.recover(ledger, sent.get(node.name) ?? new Map());
  }

  /** Nothing can commit any more: whoever waits is told, and nothing goes on. */
  journalFailed(error: HeadwaterError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const node of this.nodes.values()) node.halt(error);
    this.#failure = error;
    this.rested();
  }

  /** A reference to a root, for somebody outside. */
  rootOf(name: string, { caller, client = caller?.id, request }: Asker = {}): Reference {
    const node = this.node(name);
    const ask = (target: Address, method: Method, args: unknown[]) => {
      return this.#request(node, target as Slot, method, args, client, caller, request);
    };
    const askOnce: typeof ask = (target, method, args) => {
      return this.answers.once(String(request), () => {
        const kept = this.keptAnswer(String(request));
        if (kept === null) return ask(target, method, args);
        return kept.ok ? Promise.resolve(kept.value) : Promise.reject(kept.value);
      });
    };
    const scope: Scope = { [INVOKE]: request === undefined ? ask : askOnce };
    return reference(scope, node.root);
  }

  node(name: string): LogicalNode {
    const node = this.nodes.get(name);
    invariant(node !== undefined, `there is no logical node "${name}"`);
    return node;
  }

  #request(
    node: LogicalNode,
    slot: Slot,
    method: Method,
    args: unknown[],
    client: string | undefined,
    caller: Caller | undefined,
    request: string | undefined,
  ): Promise<unknown> {
    const promise = new Promise<unknown>(keepSettlers);
    const waiting: Waiting = { resolve: lastResolve, reject: lastReject };
    if (caller !== undefined && this.#clients.get(caller.id) !== caller) waiting.reject(closed(caller.id));
    else this.submit(node, slot, method, args, client, request, waiting);
    return promise;
  }

  /** Takes a request from outside, and tells whoever waits what comes of it. */
  submit(
    node: LogicalNode,
    slot: Slot,
    method: Method,
    args: unknown[],
    client: string | undefined,
    request: string | undefined,
    waiting: Waiting,
  ): void {
    try {
      if (this.#stopped) throw this.#failure ?? stopped();
      if (!args.every(isSimple)) copyArguments(args, slot, method);
      node.submit(slot, method, args, client, waiting, request);
    } catch (error) {
      waiting.reject(error);
    }
  }

  get hasLedger(): boolean {
    return Boolean(this.#options.ledger);
  }

  /** The answer that the journal has to a request, if it has one. */
  keptAnswer(request: string): StoredAnswer | null {
    return this.#options.ledger?.answerTo(request) ?? null;
  }

  /** Is nothing under way, apart from armed timers? */
  get isIdle(): boolean {
    for (const node of this.nodes.values()) if (!node.isQuiet) return false;
    for (const count of this.#onTheWay.values()) if (count > 0) return false;
    return true;
  }

  /** Resolves when the condition holds; it is looked at whenever a logical node comes to rest. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  rested(): void {
    if (this.#watchers.length === 0) return;
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const look of watchers) look();
  }

  connect(id: string, onMessage: OnMessage): Caller {
    if (this.#clients.has(id)) {
      throw new HeadwaterError(
        "HW-1020",
        `a client named "${id}" is connected already; close that one first.`,
      );
    }
    const caller = { id, onMessage };
    this.#clients.set(id, caller);
    return caller;
  }

  disconnect(caller: Caller): void {
    if (this.#clients.get(caller.id) === caller) this.#clients.delete(caller.id);
  }

  /** Takes no more requests, answers those it has taken, then stops everything else where it is. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    const nodes = [...this.nodes.values()];
    let isOver = false;
    const callOff = this.#ports.at(this.#ports.now() + graceMs, () => {
      isOver = true;
      this.rested();
    });
    await this.until(() => isOver || !nodes.some((node) => node.isAwaited));
    callOff();
    for (const node of nodes) node.halt(stopped());
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    const found = [...this.nodes.values()].filter(
      ({ root, name: known }) => isKindOf(root.shape.cls, cls) && (name === undefined || known === name),
    );
    const [only] = found;
    if (only !== undefined && found.length === 1) return only.root;
    throw rules.noSuchPeer(cls, name, [...this.nodes.keys()]);
  }

  backlog(from: string, to: string): number {
    return this.#onTheWay.get(`${from} ${to}`) ?? 0;
  }

  deliver(from: string, sequence: number, message: NodeMessage): void {
    const to = message.slot.node;
    const pair = `${from} ${to}`;
    this.#onTheWay.set(pair, this.backlog(from, to) + 1);
    let arrived = false;
    this.#ports.transmit(from, to, () => {
      if (!arrived) this.#onTheWay.set(pair, this.backlog(from, to) - 1);
      arrived = true;
      this.node(to).receive(from, sequence, message);
    });
  }

  tell(client: string, message: unknown, from: Told): void {
    const caller = this.#clients.get(client);
    if (caller !== undefined) apart(() => caller.onMessage(message, from));
  }

  failed({ slot, method, origin }: EventRequest, error: unknown): void {
    const failed: FailedEvent = { context: String(slot), method: method.name, startedBy: origin.kind, error };
    const { onError } = this.#options;
    if (onError !== undefined) apart(() => onError(failed));
    else process.emitWarning(describe(failed), "HeadwaterEventFailed");
  }
}

function describe({ context, method, startedBy, error }: FailedEvent): string {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `${context}.${method}(…), begun by a ${startedBy}, failed and changed nothing: ${why}`;
}

/** What an application's callback throws must not stop a logical node half way. */
function apart(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.emitWarning(`a callback threw: ${why}`, "HeadwaterCallbackFailed");
  }
}

function closed(client: string): HeadwaterError {
  return new HeadwaterError("HW-1401", `the client "${client}" was closed and makes no more requests.`);
}

function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and takes no more requests.");
}
