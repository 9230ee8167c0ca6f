/** What `headwater cluster` does from outside: it asks members, and hears from the log's servers what becomes of it. */

import { HeadwaterError } from "../errors.js";
import type { Beat } from "../journal/stream/beats.js";
import { BEAT_MS, readBeat } from "../journal/stream/beats.js";
import { lastOf } from "../journal/stream/epoch.js";
import { type NatsAddress, natsAddress, otherLog } from "../journal/stream/nats-address.js";
import { NatsLog } from "../journal/stream/nats-log.js";
import { OWN_LOG } from "./division.js";
import { isNamed, Members } from "./members.js";
import { askMember } from "./operator.js";

/** Every living member beats several times meanwhile. */
const HEAR_MS = 5 * BEAT_MS;
const LOOK_MS = 20;
/** A head answers what it has taken before it hands over. */
const HANDOVER_MS = 30_000;
/** A new process loads the program and reads what the log has. */
const RESTART_MS = 60_000;

/** A cluster, heard from outside. */
export class ClusterView {
  readonly port: NatsLog;
  readonly #members = new Members(() => performance.now());
  readonly #hearing: { stop(): void };

  private constructor(port: NatsLog) {
    this.port = port;
    this.#hearing = port.hear((bytes) => {
      const beat = readBeat(bytes);
      if (beat?.state === "leaving") this.#members.left(beat.member);
      else if (beat !== null && beat.state !== "handover") this.#members.heard(beat);
    });
  }

  static async open(address: NatsAddress): Promise<ClusterView> {
    const view = new ClusterView(await NatsLog.existing(address));
    await new Promise((resolve) => setTimeout(resolve, HEAR_MS));
    return view;
  }

  get living(): readonly Beat[] {
    return this.#members.living();
  }

  /** The member with the latest epoch; undefined if there is no head. */
  get head(): Beat | undefined {
    return this.living.filter(({ epoch }) => epoch > 0).sort((a, b) => b.epoch - a.epoch)[0];
  }

  named(name: string): Beat {
    const found = this.living.filter(({ member }) => isNamed(member, name));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    const names = this.living.map(({ member }) => member).join(", ");
    const why = only === undefined ? `no member is called ${name}` : `several members are called ${name}`;
    throw new HeadwaterError("HW-3110", `${why}. Nothing was changed. The members are ${names}.`);
  }

  mustHaveHead(): Beat {
    const { head } = this;
    if (head !== undefined) return head;
    throw new HeadwaterError(
      "HW-3105",
      "the cluster has no head at the moment. Nothing was changed. Ask again later.",
    );
  }

  /** Resolves with what was found, or null after that time. */
  async until<T>(find: () => T | null | undefined, ms: number): Promise<T | null> {
    const over = performance.now() + ms;
    for (;;) {
      const found = find();
      if (found !== null && found !== undefined) return found;
      if (performance.now() > over) return null;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async close(): Promise<void> {
    this.#hearing.stop();
    await this.port.close();
  }
}

async function viewed<T>(text: string, log: string, work: (view: ClusterView) => Promise<T>): Promise<T> {
  const address = natsAddress(text);
  const view = await ClusterView.open(log === OWN_LOG ? address : otherLog(address, log));
  try {
    return await work(view);
  } finally {
    await view.close();
  }
}

/** Lets another member become the head of a log. Resolves with the old one and the new one, when that is the head. */
export function handOver(
  address: string,
  to: string | null,
  log = OWN_LOG,
): Promise<{ readonly from: string; readonly to: string; readonly ms: number }> {
  return viewed(address, log, (view) => handOverIn(view, to));
}

async function handOverIn(view: ClusterView, to: string | null) {
  const head = view.mustHaveHead();
  const begun = performance.now();
  const request = { question: "handover", ...(to === null ? {} : { to: view.named(to).member }) } as const;
  await askMember(view.port, head.member, request, HANDOVER_MS);
  const next = await view.until(() => ((view.head?.epoch ?? 0) > head.epoch ? view.head : null), HANDOVER_MS);
  if (next === null)
    throw new HeadwaterError(
      "HW-3105",
      `${head.member} has handed over, and no member has become the head yet.`,
    );
  return { from: head.member, to: next.member, ms: performance.now() - begun };
}

/** A member does not become the head of any log any more, and offers no hosts, until its process is started again. */
export function drain(address: string, name: string): Promise<string> {
  return viewed(address, OWN_LOG, async (view) => {
    const { member } = view.named(name);
    await askMember(view.port, member, { question: "drain" }, HANDOVER_MS);
    return member;
  });
}

/**
 * Restarts each process, one after the other, with the program as it is now: standbys first, the head last, after it has handed over.
 * Stops with HW-3112 when a process does not come back.
 */
export function roll(address: string, progress: (text: string) => void): Promise<void> {
  return viewed(address, OWN_LOG, async (view) => {
    const head = view.mustHaveHead();
    const members = view.living;
    for (const { member } of members) {
      const { restarts } = await askMember(view.port, member, { question: "about" });
      if (!restarts)
        throw notRestarted(`nothing would start ${member} again when it ends. Nothing was changed`);
    }
    const takers = members.filter(({ state }) => state !== "gateway");
    if (takers.length < 2)
      throw notRestarted("there is one member only that may be the head. Nothing was changed");
    const others = members.filter(({ member }) => member !== head.member);
    const rank = (state: string) => (state === "standby" ? 0 : 1);
    for (const each of others.sort((a, b) => rank(a.state) - rank(b.state)))
      await restart(view, each.member, progress);
    await restart(view, head.member, progress);
  });
}

async function restart(view: ClusterView, member: string, progress: (text: string) => void): Promise<void> {
  const before = new Set(view.living.map((beat) => beat.member));
  if (!before.has(member)) return progress(`${member} has ended by itself meanwhile`);
  progress(`${member} is restarted`);
  await askMember(view.port, member, { question: "restart" }, HANDOVER_MS);
  const isBack = () => view.living.find((beat) => !before.has(beat.member) && beat.state !== "leaving");
  const come = await view.until(
    () => (view.living.some((beat) => beat.member === member) ? null : isBack()),
    RESTART_MS,
  );
  if (come === null)
    throw notRestarted(
      `no process has come in the place of ${member} after ${RESTART_MS / 1000} seconds. The others were not restarted and go on`,
    );
  const { position } = await lastOf(view.port);
  const found = () => view.living.find((beat) => beat.member === come.member && beat.position >= position);
  if ((await view.until(found, RESTART_MS)) === null)
    throw notRestarted(`${come.member} has not read the log. The others go on`);
  progress(`${come.member} has joined`);
}

function notRestarted(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3112",
    `the cluster was not rolled: ${why}. Look at what that process has said, and roll again.`,
  );
}
