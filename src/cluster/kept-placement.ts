import { HeadwaterError } from "../errors.js";
import type { HostInfo, NamedContext, ProgramHosts } from "../host/fleet/index.js";
import { type AnyService, HOSTS } from "../host/service.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { ContextClass } from "../model/context.js";
import { Reference } from "../model/refs.js";
import { inspectTree, type Shape } from "../model/shape.js";
import { nameWithoutEnding } from "./members.js";

/** A host by the name of its member: which of that member's hosts it is, in the order in which they came. Numbers of hosts end with their head. */
interface NamedHost {
  readonly member: string;
  readonly nth: number;
}

/** What the user of the hosts has said of places while the program ran. Functions cannot be kept: `colocate` is given with the program. */
interface KeptRules {
  readonly pins: Readonly<Record<string, NamedHost>>;
  /** The oldest first. */
  readonly moves: Readonly<Record<string, NamedHost>>;
  /** Names of classes. */
  readonly separate: readonly string[];
}

const NONE: KeptRules = { pins: {}, moves: {}, separate: [] };
const PART = "placement";
/** Of all rules; moves that do not fit are not kept, and pins are refused. */
const BYTES_MAX = 256 * 1024;

export interface KeptPlacementParts {
  readonly port: LogPort;
  /** The member that this process is. */
  readonly name: string;
  /** All classes of contexts of the program, by name. */
  readonly classes: ReadonlyMap<string, ContextClass>;
  readonly onWarning: (text: string) => void;
}

/** Keeps pins, moves and separate places with the cluster, so that the next head has them, too. */
export class KeptPlacement {
  readonly #parts: KeptPlacementParts;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(parts: KeptPlacementParts) {
    this.#parts = parts;
  }

  /** The program of a new head: it gets the rules that are kept, each when there is the host that it names. */
  over(service: AnyService): AnyService {
    const hosts = service[HOSTS];
    if (hosts === null) return service;
    const apply = () => {
      this.#inTurn(() => this.#apply(hosts)).catch((error: unknown) => {
        if (error instanceof HeadwaterError && error.code === "HW-1401") return; // this process is the head no more
        this.#parts.onWarning(`a kept rule of placement was not carried out: ${String(error)}`);
      });
    };
    service.observe(["host"], (fact) => {
      if (fact.kind === "host" && fact.what === "joined") apply();
    });
    apply();
    return { ...service, [HOSTS]: this.#keeping(hosts) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => {});
    return done;
  }

  async #apply(hosts: ProgramHosts): Promise<void> {
    const { pins, moves, separate } = (await this.#read()).rules;
    const { classes } = this.#parts;
    const known = separate.flatMap((name) => classes.get(name) ?? []);
    if (known.length > 0) await hosts.separate(...known);
    for (const [address, named] of Object.entries(pins)) {
      const host = this.#find(hosts, named);
      if (host !== null) await hosts.pin(address, host);
    }
    for (const [address, named] of Object.entries(moves)) {
      const host = this.#find(hosts, named);
      if (host !== null && hosts.where(address) !== host) await hosts.move(address, host);
    }
  }

  /** The hosts as their user sees them: what is said of places is kept. */
  #keeping(hosts: ProgramHosts): ProgramHosts {
    const keep = (change: (rules: KeptRules) => KeptRules, mayForget = false) =>
      this.#inTurn(() => this.#change(change, mayForget));
    return {
      list: () => hosts.list(),
      add: (count) => hosts.add(count),
      drain: (host) => hosts.drain(host),
      remove: (host) => hosts.remove(host),
      kill: (host) => hosts.kill(host),
      contexts: () => hosts.contexts(),
      settled: () => hosts.settled(),
      colocate: (rule) => hosts.colocate(rule),
      where: (context) => hosts.where(textOf(context)),
      move: async (context, host) => {
        const address = textOf(context);
        const named = this.#named(hosts, host);
        await hosts.move(address, host);
        await keep(
          (rules) => ({ ...rules, moves: { ...without(rules.moves, address), ...named(address) } }),
          true,
        );
      },
      pin: async (context, host) => {
        const address = textOf(context);
        const named = this.#named(hosts, host);
        await hosts.pin(address, host);
        await keep((rules) => ({ ...rules, pins: { ...rules.pins, ...named(address) } }));
      },
      unpin: async (context) => {
        const address = textOf(context);
        await hosts.unpin(address);
        await keep((rules) => ({ ...rules, pins: without(rules.pins, address) }));
      },
      separate: async (...classes) => {
        await hosts.separate(...classes);
        const names = classes.map(({ name }) => name);
        await keep((rules) => ({ ...rules, separate: [...new Set([...rules.separate, ...names])] }));
      },
    };
  }

  #named(hosts: ProgramHosts, id: number): (address: string) => Readonly<Record<string, NamedHost>> {
    const member = hosts.list().find((host) => host.id === id);
    if (member === undefined) return () => ({}); // the hosts refuse it
    const name = this.#memberOf(member);
    const nth = this.#of(hosts, name).indexOf(id);
    return (address) => ({ [address]: { member: name, nth } });
  }

  #find(hosts: ProgramHosts, { member, nth }: NamedHost): number | null {
    return this.#of(hosts, member)[nth] ?? null;
  }

  /** The running hosts of a member. */
  #of(hosts: ProgramHosts, member: string): number[] {
    const own = hosts.list().filter((host) => host.state === "running" && this.#memberOf(host) === member);
    return own.map(({ id }) => id).sort((a, b) => a - b);
  }

  #memberOf({ member }: HostInfo): string {
    return nameWithoutEnding(member ?? this.#parts.name);
  }

  async #read(): Promise<{ readonly rules: KeptRules; readonly version: number }> {
    const kept = await this.#parts.port.getPart(PART);
    if (kept === null) return { rules: NONE, version: 0 };
    return { rules: JSON.parse(kept.bytes.toString()) as KeptRules, version: kept.version };
  }

  async #change(change: (rules: KeptRules) => KeptRules, mayForget: boolean): Promise<void> {
    for (;;) {
      const { rules, version } = await this.#read();
      const bytes = bytesOf(change(rules), mayForget);
      if (await this.#parts.port.replacePart(PART, bytes, version)) return;
    }
  }
}

/** As they are kept. The oldest moves give way to new ones. */
function bytesOf(rules: KeptRules, mayForget: boolean): Buffer {
  let bytes = Buffer.from(JSON.stringify(rules));
  if (bytes.length > BYTES_MAX && !mayForget)
    throw new HeadwaterError(
      "HW-6013",
      `the rule holds while this process is the head, and is not kept: all rules together take more than ${BYTES_MAX} bytes. ` +
        "Give rules with the program (`placement`), with `*` for keys.",
    );
  for (let moves = Object.entries(rules.moves); bytes.length > BYTES_MAX && moves.length > 0; ) {
    moves = moves.slice(Math.ceil(moves.length / 10));
    bytes = Buffer.from(JSON.stringify({ ...rules, moves: Object.fromEntries(moves) }));
  }
  return bytes;
}

function without<T>(all: Readonly<Record<string, T>>, address: string): Record<string, T> {
  const { [address]: _, ...rest } = all;
  return rest;
}

/** References of a service in a cluster know the way of a context, and not where the head has it. */
function textOf(context: NamedContext): string {
  return typeof context === "string"
    ? context
    : String(context instanceof Reference ? Reference.addressOf(context) : context);
}

/** The classes below these roots, by name; of two with one name, none can be kept. */
export function classesOf(roots: Readonly<Record<string, ContextClass>>): ReadonlyMap<string, ContextClass> {
  const seen = new Map<ContextClass, Shape | null>();
  for (const root of Object.values(roots)) inspectTree(root, seen);
  const all = [...seen.keys()];
  const ones = all.filter(({ name }) => all.filter((each) => each.name === name).length === 1);
  return new Map(ones.map((cls) => [cls.name, cls]));
}
