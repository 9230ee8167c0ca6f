import { HeadwaterError } from "../errors.js";
import { misfitOf } from "../host/misfit.js";
import { outlineOf } from "../host/program-module.js";
import { own, rootsOf, runOwn } from "../host/run.js";
import type { Nodes, RunOptions } from "../host/service.js";
import { clientKey } from "../host/store/index.js";
import type { MemberLoad } from "../journal/stream/beats.js";
import type { NatsLog } from "../journal/stream/nats-log.js";
import { type TableDirectory, tableDirectory } from "../journal/stream/table-directory.js";
import type { ContextClass } from "../model/context.js";
import { CopiedFields } from "./copied-fields.js";
import { HotCopies, REPLICAS } from "./copies.js";
import type { Division } from "./division.js";
import { Gateway, type GatewayParts } from "./gateway.js";
import { classesOf, KeptPlacement } from "./kept-placement.js";
import { Member } from "./member.js";
import type { HostOffer } from "./offered-hosts.js";
import { askMember } from "./operator.js";
import { NamedPlace } from "./place.js";
import { routeThrough } from "./several-gateways.js";
import { realWorld } from "./world.js";

const SNAPSHOT_BYTES = 256 * 2 ** 20;

/** What a process brings into each log of its cluster. */
export interface ProcessParts {
  readonly name: string;
  readonly program: ContextClass | Nodes;
  readonly options: RunOptions;
  readonly division: Division;
  readonly offer: HostOffer | null;
  readonly load: () => MemberLoad | null;
  readonly retire: (() => void) | null;
  readonly warn: (text: string) => void;
  readonly onFailure: (error: HeadwaterError) => void;
  readonly onCopyWarning: (error: HeadwaterError) => void;
  readonly gatewayParts: Omit<GatewayParts, "roots" | "hasClient">;
}

/** One log, as one process takes part in it. */
export class JoinedLog {
  readonly gateway: Gateway;
  readonly copies: HotCopies;
  readonly #parts: ProcessParts;
  readonly #log: string;
  readonly #port: NatsLog;
  readonly #nodes: ReadonlySet<string>;
  #directory: TableDirectory | null = null;
  #member: Member | null = null;

  constructor(parts: ProcessParts, log: string, port: NatsLog) {
    const { division, program, gatewayParts } = parts;
    this.#parts = parts;
    this.#log = log;
    this.#port = port;
    this.#nodes = division.get(log) ?? new Set();
    const classes = Object.entries(rootsOf(own(program, { nodes: this.#nodes })));
    const roots = new Map(classes.map(([node, cls]) => [node, NamedPlace.root(node, cls)]));
    this.copies = new HotCopies({
      member: parts.name,
      fields: new CopiedFields(roots.values()),
      replicas: replicasOf(parts.options),
      now: realWorld.now,
      every: realWorld.every,
      onWarning: parts.onCopyWarning,
    });
    this.gateway = new Gateway({
      ...gatewayParts,
      roots,
      hasClient: (client) => this.#member?.table.get(clientKey(client)) !== undefined,
    });
  }

  /** Null until this process has joined. */
  get member(): Member | null {
    return this.#member;
  }

  /** `gateways`: those of this process, by log. `others`: what else takes part for this process. */
  async join(gateways: ReadonlyMap<string, Gateway>, drainAll: () => Promise<void>): Promise<Member> {
    const { name, program, options, division, offer, load, retire, warn, onFailure } = this.#parts;
    const { member: wanted, logs: _, provision: __, ...rest } = options;
    const classes = rootsOf(own(program, { nodes: this.#nodes }));
    const ownLog =
      division.size === 1 ? null : { nodes: this.#nodes, open: routeThrough(gateways, division, this.#log) };
    const placement = new KeptPlacement({
      port: this.#port,
      name,
      classes: classesOf(classes),
      onWarning: warn,
    });
    this.#directory = await tableDirectory();
    this.#member = await Member.join({
      name,
      port: this.#port,
      world: realWorld,
      address: this.#port.address.shown,
      directory: this.#directory.path,
      host: wanted?.host ?? "127.0.0.1",
      takesOver: wanted?.takesOver ?? true,
      snapshotBytes: wanted?.snapshotBytes ?? SNAPSHOT_BYTES,
      program: this.#port.program,
      outline: JSON.stringify(outlineOf(rootsOf(program))),
      gateway: this.gateway,
      copies: this.copies,
      offer,
      load,
      misfit: misfitOf(Object.values(classes)),
      restart: wanted?.restart ?? null,
      retire,
      drainAll,
      start: async (onLog, onHalted) => {
        return placement.over(
          await runOwn(program, { ...rest, journal: onLog, onFailure: onHalted }, ownLog),
        );
      },
      onWarning: warn,
      onFailure,
    });
    return this.#member;
  }

  /** This process does not become the head of this log any more, and has no hosts there. */
  async drain(): Promise<void> {
    const { name } = this.#parts;
    await this.#member?.drain();
    const head = this.#member?.headMember ?? "";
    if (head !== name && head !== "")
      await askMember(this.#port, head, { question: "dismissHosts", member: name }).catch(() => {}); // lost hosts are replaced
  }

  async release(): Promise<void> {
    this.copies.close();
    await this.#port.close();
    await this.#directory?.release();
  }
}

function replicasOf({ member }: RunOptions): number {
  const { replicas = REPLICAS } = member ?? {};
  if (Number.isSafeInteger(replicas) && replicas >= 1) return replicas;
  throw new HeadwaterError(
    "HW-3106",
    `this process cannot be a member of the cluster: ${replicas} is no number of replicas; 1 is the least.`,
  );
}
