import { CLUSTER, type ClusterSide, type EngineCopies } from "../host/cluster-side.js";
import { running } from "../host/event/index.js";
import { apart } from "../host/ports/index.js";
import {
  ADMIT,
  type AnyService,
  HOSTS,
  INSPECTOR,
  PARKED,
  type RequestedBy,
  type Running,
} from "../host/service.js";
import type { Address } from "../model/address.js";
import { DOOR } from "../model/door.js";
import { INVOKE, type InvocationScope, type Reference, reference } from "../model/refs.js";
import * as rules from "../model/rules.js";
import {
  type DroppedFact,
  type Fact,
  type FactOf,
  type Feed,
  type Kind,
  Observation,
  type ObserveOptions,
  type Observer,
} from "../observe/index.js";
import { areSimple, copyAll } from "../state/values.js";
import { inspectorOver, parkedOver } from "./looked-at.js";
import type { Member } from "./member.js";
import type { ProcessGateway } from "./several-gateways.js";

export interface ClusterServiceParts {
  readonly gateway: ProcessGateway;
  /** One for each log, that of the cluster's own log first. */
  readonly members: readonly Member[];
  readonly copies: EngineCopies;
  readonly feed: Feed;
  readonly stop: (graceMs: number) => Promise<void>;
}

const GRACE_MS = 5000;
const PAYER = "the program";

/** What `run` gives back in each process of a cluster, whether that is the head of a log or not. */
export function clusterService(parts: ClusterServiceParts): AnyService {
  const { gateway, members } = parts;
  const services = () => members.flatMap(({ service }) => service ?? []);
  const referencesFor = (asker: RequestedBy = {}) => {
    const roots = [...gateway.roots].map(([name, root]) => [name, rootFor(parts, root, asker)] as const);
    return gateway.isSingle ? { root: roots[0]?.[1] } : { nodes: Object.fromEntries(roots) };
  };
  const stop: Running["stop"] = ({ graceMs = GRACE_MS } = {}) => parts.stop(graceMs);
  const inspector = inspectorOver(() => services(), [...gateway.roots.values()].map(String));
  return {
    [DOOR]: gateway,
    get [HOSTS]() {
      return services().find((service) => service[HOSTS] !== null)?.[HOSTS] ?? null;
    },
    [ADMIT]: null,
    [CLUSTER]: sideOf(parts),
    [PARKED]: parkedOver(() => services()),
    [INSPECTOR]: inspector,
    ...referencesFor(),
    client: (id: string, onMessage: (message: unknown) => void) => {
      const listening = gateway.listen(id, (message, from) => {
        listening.received(from);
        onMessage(message);
      });
      return { ...referencesFor({ client: id }), id, close: () => listening.forget() };
    },
    as: referencesFor,
    at: (ticket, node) => inspector.at(ticket, node),
    history: () => inspector.history(),
    observe: (kinds, observer, options) => observed(parts, kinds, observer, options),
    idle: async () => {
      await gateway.untilAnswered();
      await Promise.all(services().map((service) => service.idle()));
    },
    room: async () => {
      await gateway.untilHead();
      await Promise.all(services().map((service) => service.room()));
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** What the program of no head tells. */
const OF_PROCESS: readonly Kind[] = ["member", "decision", "warning"];

/** The facts of all programs of which this process is the head, and those about members. */
function observed<K extends Kind>(
  { members, feed }: ClusterServiceParts,
  kinds: readonly K[],
  observer: Observer<FactOf<K>>,
  options: ObserveOptions = {},
): Observation {
  const services = members.flatMap(({ service }) => service ?? []);
  const [only, another] = services;
  const aboutMembers = kinds.filter((kind) => OF_PROCESS.includes(kind));
  if (only === undefined) return feed.observe(kinds, observer, options);
  if (another === undefined && aboutMembers.length === 0) return only.observe(kinds, observer, options);
  const each: Observation[] = [];
  const all = new Observation(observer as Observer<Fact>, apart, options, () => {
    for (const observation of each) observation.stop();
  });
  each.push(feed.observe(aboutMembers, (fact) => taken(all, fact), options));
  for (const service of services) each.push(service.observe(kinds, (fact) => taken(all, fact), options));
  return all;
}

function taken(all: Observation, fact: Fact | DroppedFact): void {
  if (fact.kind === "dropped") all.dropped += fact.count;
  else all.take(fact);
}

/** What is kept in every process is in the cluster's own log. */
function sideOf({ gateway, members, copies }: ClusterServiceParts): ClusterSide {
  const { watching } = gateway;
  const [member] = members;
  return {
    get isHead() {
      return member?.isHead ?? false;
    },
    watch: (watcher) => {
      watching.watch(watcher);
      if (member !== undefined) member.onRole = (isHead) => watcher.role(isHead);
    },
    get isCurrent() {
      return watching.isCurrent;
    },
    announce: (changes, isStrict) => watching.announce(changes, isStrict),
    copies,
  };
}

function rootFor(
  { gateway }: ClusterServiceParts,
  root: Address,
  { client, request }: RequestedBy,
): Reference {
  const scope: InvocationScope = {
    [INVOKE]: (target, method, args) => {
      // At once, not as a rejection: an event that does not await it must fail, too.
      if (running.slot !== null && running.method !== null)
        throw rules.requestInside(running.slot, running.method, target, method);
      return new Promise<unknown>((resolve, reject) => {
        if (!areSimple(args)) copyAll(args, () => rules.argumentsOf(target, method));
        const payer = { caller: PAYER, part: client ?? "" };
        gateway.ask({ target, method, args }, client, request, payer, { resolve, reject });
      });
    },
  };
  return reference(scope, root);
}
