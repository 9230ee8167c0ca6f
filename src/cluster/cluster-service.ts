import { HeadwaterError } from "../errors.js";
import { CLUSTER, type ClusterSide } from "../host/cluster-side.js";
import { running } from "../host/event/index.js";
import {
  ADMIT,
  type AnyService,
  HOSTS,
  INSPECTOR,
  PARKED,
  type RequestedBy,
  type Running,
} from "../host/service.js";
import { DOOR } from "../model/door.js";
import { INVOKE, type InvocationScope, type Reference, reference } from "../model/refs.js";
import * as rules from "../model/rules.js";
import type { Feed } from "../observe/index.js";
import { areSimple, copyAll } from "../state/values.js";
import type { Gateway } from "./gateway.js";
import type { Member } from "./member.js";
import type { NamedPlace } from "./place.js";

export interface ClusterServiceParts {
  readonly gateway: Gateway;
  readonly member: () => Member;
  readonly roots: ReadonlyMap<string, NamedPlace>;
  readonly isSingle: boolean;
  readonly feed: Feed;
  readonly stop: (graceMs: number) => Promise<void>;
}

const GRACE_MS = 5000;
const PAYER = "the program";

/** What `run` gives back in each process of a cluster, whether that is the head or not. */
export function clusterService(parts: ClusterServiceParts): AnyService {
  const { gateway, member, feed } = parts;
  const referencesFor = (asker: RequestedBy = {}) => {
    const roots = [...parts.roots].map(([name, root]) => [name, rootFor(parts, root, asker)] as const);
    return parts.isSingle ? { root: roots[0]?.[1] } : { nodes: Object.fromEntries(roots) };
  };
  const stop: Running["stop"] = ({ graceMs = GRACE_MS } = {}) => parts.stop(graceMs);
  return {
    [DOOR]: gateway,
    get [HOSTS]() {
      return member().service?.[HOSTS] ?? null;
    },
    [ADMIT]: null,
    [CLUSTER]: sideOf(parts),
    get [PARKED]() {
      return member().service?.[PARKED] ?? NOTHING_PARKED;
    },
    get [INSPECTOR]() {
      return member().service?.[INSPECTOR] ?? inspectedElsewhere(parts.roots);
    },
    ...referencesFor(),
    client: (id: string, onMessage: (message: unknown) => void) => {
      const listening = gateway.listen(id, (message, from) => {
        listening.received(from);
        onMessage(message);
      });
      return { ...referencesFor({ client: id }), id, close: () => listening.forget() };
    },
    as: referencesFor,
    at: (ticket, node) => (member().service?.[INSPECTOR] ?? inspectedElsewhere(parts.roots)).at(ticket, node),
    history: () => member().service?.history() ?? {},
    observe: (kinds, observer, options) => (member().service ?? feed).observe(kinds, observer, options),
    idle: async () => {
      await gateway.untilAnswered();
      await member().service?.idle();
    },
    room: async () => {
      await gateway.untilHead();
      await member().service?.room();
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function sideOf({ gateway, member }: ClusterServiceParts): ClusterSide {
  const { watching } = gateway;
  return {
    get isHead() {
      return member().isHead;
    },
    watch: (watcher) => {
      watching.watch(watcher);
      member().onRole = (isHead) => watcher.role(isHead);
    },
    get isCurrent() {
      return watching.isCurrent;
    },
    announce: (changes, isStrict) => watching.announce(changes, isStrict),
  };
}

function elsewhere(): never {
  throw new HeadwaterError("HW-6033", "no event is parked here: ask the process that is the head.");
}

const NOTHING_PARKED: AnyService[typeof PARKED] = { list: () => [], replay: elsewhere, drop: elsewhere };

/** Contexts are looked at in the process that is the head. */
function inspectedElsewhere(roots: ClusterServiceParts["roots"]): AnyService[typeof INSPECTOR] {
  const refuse = (): never => {
    throw new HeadwaterError("HW-6014", "no contexts are here to look at: ask the process that is the head.");
  };
  const shown = [...roots.values()].map(String);
  return {
    roots: shown,
    outline: refuse,
    children: refuse,
    state: refuse,
    at: refuse,
    changedBy: () => null,
    history: () => ({}),
  };
}

function rootFor(
  { gateway }: ClusterServiceParts,
  root: NamedPlace,
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
