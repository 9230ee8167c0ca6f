import type { HeadwaterError } from "../errors.js";
import type { Address } from "../model/address.js";
import type { MessageSender, MessagesOut } from "../model/between-logs.js";
import type {
  Asked,
  Door,
  Listening,
  ReadCallbacks,
  RelaySeries,
  ResultCallbacks,
  Series,
  WatchedRequest,
} from "../model/door.js";
import type { Payer } from "../model/share.js";
import type { Division } from "./division.js";
import type { Gateway } from "./gateway.js";
import type { Watching } from "./watching.js";

/** What takes the requests of a process: a gateway, or several, if the program has several logs. */
export interface ProcessGateway extends Door {
  readonly watching: Watching;
  untilHead(): Promise<void>;
  untilAnswered(): Promise<void>;
}

/** The gateways of a process by their logs. Each request goes to the head of the log that has its logical node. */
export class SeveralGateways implements ProcessGateway {
  readonly roots: ReadonlyMap<string, Address>;
  readonly isSingle = false;
  readonly answersMs: number;
  readonly refused: Door["refused"];
  readonly failed: Door["failed"];
  readonly #own: Gateway;
  readonly #gateways: readonly Gateway[];
  readonly #byNode = new Map<string, Gateway>();

  /** `own`: that of the cluster's own log. */
  constructor(own: Gateway, gateways: readonly Gateway[]) {
    this.#own = own;
    this.#gateways = gateways;
    this.roots = new Map(gateways.flatMap(({ roots }) => [...roots]));
    this.answersMs = own.answersMs;
    this.refused = own.refused;
    this.failed = own.failed;
    for (const gateway of gateways) for (const node of gateway.roots.keys()) this.#byNode.set(node, gateway);
  }

  /** Of what is kept in every process, only what is in the cluster's own log. */
  get watching(): Watching {
    return this.#own.watching;
  }

  /** Positions belong to a log each. Together they are comparable as long as no log is another one. */
  get history(): string {
    return this.#gateways.map(({ history }) => history).join(",");
  }

  async health(): Promise<HeadwaterError | null> {
    for (const gateway of this.#gateways) {
      const failure = await gateway.health();
      if (failure !== null) return failure;
    }
    return null;
  }

  async untilHead(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.untilHead()));
  }

  async untilAnswered(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.untilAnswered()));
  }

  ask(
    asked: Asked,
    client: string | undefined,
    request: string | undefined,
    payer: Payer,
    waiting: ResultCallbacks,
  ): void {
    this.#of(asked).ask(asked, client, request, payer, waiting);
  }

  /** Each log keeps the answers to the requests that went there, and hears which of all are answered. */
  series(client: string, payer: Payer): Series {
    const opened = new Map<Gateway, Series>();
    return {
      ask: (number, asked, sentUpTo, waiting) => {
        const gateway = this.#of(asked);
        const series = opened.get(gateway) ?? gateway.series(client, payer);
        opened.set(gateway, series);
        series.ask(number, asked, sentUpTo, waiting);
      },
      answered: (below) => {
        for (const series of opened.values()) series.answered(below);
      },
      leave: () => {
        for (const series of opened.values()) series.leave();
      },
    };
  }

  relay(): RelaySeries {
    return this.#own.relay();
  }

  messages(): null {
    return null;
  }

  /** All logs keep messages for the client, and each hands over its own. */
  listen(client: string, onMessage: Parameters<Door["listen"]>[1]): Listening {
    const opened = new Map<Gateway, Listening>();
    try {
      for (const gateway of this.#gateways) opened.set(gateway, gateway.listen(client, onMessage));
    } catch (error) {
      for (const listening of opened.values()) listening.leave();
      throw error;
    }
    return {
      isComplete: [...opened.values()].every(({ isComplete }) => isComplete),
      received: (upTo) => {
        const gateway = this.#byNode.get(upTo.node);
        if (gateway !== undefined) opened.get(gateway)?.received(upTo);
      },
      leave: () => {
        for (const listening of opened.values()) listening.leave();
      },
      forget: () => {
        for (const listening of opened.values()) listening.forget();
      },
    };
  }

  watch(asked: Asked, client: string | undefined, waiting: ReadCallbacks): WatchedRequest {
    return this.#of(asked).watch(asked, client, waiting);
  }

  #of({ target }: Asked): Gateway {
    return this.#byNode.get(target.node) ?? this.#own;
  }
}

/** How messages of a log whose head is in this process reach the heads of other logs: through the gateways of this process. */
export function routeThrough(
  gateways: ReadonlyMap<string, Gateway>,
  division: Division,
  own: string,
): (sender: MessageSender) => MessagesOut {
  return (sender) => {
    const byNode = new Map<string, MessagesOut>();
    const opened: MessagesOut[] = [];
    for (const [log, nodes] of division) {
      const gateway = gateways.get(log);
      if (log === own || gateway === undefined) continue;
      const out = gateway.carry({
        connected: () => sender.connected(nodes),
        taken: (messages) => sender.taken(messages),
      });
      opened.push(out);
      for (const node of nodes) byNode.set(node, out);
    }
    return {
      send: (message) => byNode.get(message.to)?.send(message),
      close: () => {
        for (const out of opened) out.close();
      },
    };
  };
}
