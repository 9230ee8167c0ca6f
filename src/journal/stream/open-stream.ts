import { randomUUID } from "node:crypto";
import type { HeadwaterError } from "../../errors.js";
import type { Journal, JournalIdentity, KeyTable } from "../journal.js";
import { damaged, inUse } from "../problems.js";
import type { CarryOverLimits } from "../table/carry-over.js";
import { BEAT_MS, readBeat, sayBeat } from "./beats.js";
import { beginEpoch, type Epoch, lastOf } from "./epoch.js";
import { FollowedTable } from "./followed-table.js";
import { type NatsAddress, natsAddress } from "./nats-address.js";
import { NatsLog } from "./nats-log.js";
import { streamJournal } from "./stream-journal.js";
import { tableDirectory } from "./table-directory.js";

export interface JournalStreamOptions {
  readonly onWarning?: (text: string) => void;
  readonly carryOver?: Partial<CarryOverLimits>;
  readonly takeOver?: boolean;
  readonly check?: (table: KeyTable, program: string) => void;
  readonly onFailure?: (error: HeadwaterError) => void;
}

/** An owner that lives beats several times in this time. */
const OWNER_MS = 5 * BEAT_MS;

/** Opens the journal that is a log on NATS, with one process that writes it. Refused (HW-3024) while another one lives and writes. */
export async function openStream(
  text: string,
  identity: JournalIdentity,
  options: JournalStreamOptions,
): Promise<Journal> {
  const address = natsAddress(text);
  const port = await NatsLog.open(address, identity, options.check !== undefined);
  const directory = await tableDirectory();
  const release = async () => {
    await port.close();
    await directory.release();
  };
  try {
    return await opened(address, port, directory.path, release, options);
  } catch (error) {
    await release();
    throw error;
  }
}

async function opened(
  address: NatsAddress,
  port: NatsLog,
  directory: string,
  release: () => Promise<void>,
  options: JournalStreamOptions,
): Promise<Journal> {
  const { shown } = address;
  const member = randomUUID();
  if (options.takeOver !== true) {
    const owner = await ownerOf(port);
    if (owner !== null) throw inUse(shown, null);
  }
  let fail: (error: HeadwaterError) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failure.catch(() => {});
  const onFailure = (what: string) => fail(damaged(shown, what));
  const followed = await FollowedTable.open(port, { ...options, address: shown, directory, onFailure });
  let begun: Epoch;
  try {
    begun = await Promise.race([begin(port, followed, member, shown, options), failure]);
  } catch (error) {
    await followed.close();
    throw error;
  }
  followed.release();
  const releaseAll = async () => {
    clearInterval(beating);
    hearing.stop();
    await release();
  };
  const { journal, log } = streamJournal(port, followed, begun, shown, { release: releaseAll });
  const beat = () =>
    sayBeat(port, { member, epoch: begun.epoch, position: log.last, state: "head", program: port.program });
  const beating = setInterval(beat, BEAT_MS).unref();
  beat();
  // A later epoch is a hint; whether it is in the log shows when something is written.
  const hearing = port.hear((bytes) => {
    if ((readBeat(bytes)?.epoch ?? 0) <= begun.epoch || log.check() !== null) return;
    journal.append([], (error) => {
      if (error === null) return;
      clearInterval(beating);
      options.onFailure?.(error);
    });
  });
  return journal;
}

/** Begins an epoch behind everything that is in the log. */
async function begin(
  port: NatsLog,
  { table, follower }: FollowedTable,
  member: string,
  shown: string,
  { check, takeOver }: JournalStreamOptions,
): Promise<Epoch> {
  for (;;) {
    const end = await lastOf(port);
    await follower.caughtUp(end.position);
    check?.(table, port.program);
    const { position, progress } = follower;
    const begun = await beginEpoch(
      port,
      { position, epoch: progress.epoch },
      { attempt: randomUUID(), member },
    );
    if (begun !== null) return begun;
    if (takeOver !== true) throw inUse(shown, null);
  }
}

/** Who writes the log at present; null if no beat is heard. */
function ownerOf(port: NatsLog): Promise<string | null> {
  return new Promise((resolve) => {
    const hearing = port.hear((bytes) => {
      const beat = readBeat(bytes);
      if (beat !== null && beat.epoch > 0) done(beat.member);
    });
    const timeout = setTimeout(() => done(null), OWNER_MS);
    const done = (owner: string | null) => {
      clearTimeout(timeout);
      hearing.stop();
      resolve(owner);
    };
  });
}
