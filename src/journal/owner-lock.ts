import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { HeadwaterError } from "../errors.js";
import { inUse } from "./problems.js";

const SOCKET = "owner.sock";
const PID = "owner.pid";
const STRAY_MS = 60_000;
/** How long, and how often, an opening waits for one that has put its socket in place and may give up. */
const UNDECIDED_MS = 2_000;
const LOOK_AGAIN_MS = 5;

export interface OwnerLockOptions {
  /** Take the journal over from the process that has it, instead of being refused. */
  readonly takeOver?: boolean | undefined;
  readonly onWarning?: ((text: string) => void) | undefined;
}

/**
 * Says whether the process that opened a journal is alive: its owner listens on a unix socket in the journal's
 * directory. The kernel closes the socket with its process, however the process ends, and keeps it open while the
 * process is stopped. A process number proves neither.
 *
 * The lock decides who is refused; the epoch of the log's segments (`log/segment-log.ts`) decides whose groups count. A file
 * system without sockets, or another machine that shares the directory, has only the epoch.
 */
export class OwnerLock {
  readonly #directory: string;
  readonly #takeOver: boolean;
  /** The socket that was found without an owner behind it, or was to be taken over. */
  readonly #found: string | null;
  readonly #bound: Bound | null;
  #own: string | null = null;
  /** The number of the process that had the journal before, as far as it is known. */
  readonly predecessor: string | null;

  private constructor(directory: string, takeOver: boolean, found: string | null, bound: Bound | null) {
    this.#directory = directory;
    this.#takeOver = takeOver;
    this.#found = found;
    this.#bound = bound;
    this.predecessor = ownerIn(directory);
  }

  /** Refuses (HW-3024) if a living process owns the journal and it is not to be taken over. */
  static async prepare(
    directory: string,
    { takeOver = false, onWarning }: OwnerLockOptions,
  ): Promise<OwnerLock> {
    const found = identityOf(join(directory, SOCKET));
    const place = new Place(directory);
    try {
      if (!takeOver && found !== null && (await isListening(place.path(SOCKET)))) {
        throw inUse(directory, ownerIn(directory));
      }
      await clearStrays(place, directory);
      return new OwnerLock(directory, takeOver, found, await bind(place, directory, onWarning));
    } catch (error) {
      place.close();
      throw error;
    }
  }

  /** Whether an owner was alive when this was prepared, which is to be taken over. */
  get isTakingOver(): boolean {
    return this.#takeOver && this.#found !== null;
  }

  /**
   * Puts this process's socket into the owner's place. If the socket there is not the socket that `prepare` has looked at, another
   * process was faster. The caller has an epoch: of two openings that come here at the same time, the log decides. So the
   * faster one may have to give up because of this one, and it is waited for until it has, or has the journal.
   */
  async install(): Promise<void> {
    const socket = join(this.#directory, SOCKET);
    const until = performance.now() + UNDECIDED_MS;
    for (;;) {
      const found = identityOf(socket);
      if (found !== null && found === this.#own) return;
      if (this.#takeOver || found === null || found === this.#found) return this.#putInPlace();
      if (performance.now() > until || !isUndecided(socket)) throw this.refusal();
      await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    }
  }

  /** For the opening that the log has decided for: another one may have put its socket there, and is gone. */
  confirm(): void {
    if (this.#bound === null) return;
    if (identityOf(join(this.#directory, SOCKET)) !== this.#own) this.#putInPlace();
    rmSync(join(this.#directory, this.#bound.name), { force: true });
  }

  refusal(): HeadwaterError {
    return inUse(this.#directory, ownerIn(this.#directory));
  }

  #putInPlace(): void {
    if (this.#bound === null) return;
    const bound = join(this.#directory, this.#bound.name);
    const link = `${bound}.new`;
    rmSync(link, { force: true });
    linkSync(bound, link);
    this.#own = identityOf(bound);
    writeFileSync(join(this.#directory, PID), `${process.pid}\n`, { mode: 0o600 });
    renameSync(link, join(this.#directory, SOCKET));
    // Both names are of one file, and renaming one to the other does nothing then.
    rmSync(link, { force: true });
  }

  /** Removes the socket if it is still this process's. */
  remove(): void {
    const socket = join(this.#directory, SOCKET);
    if (this.#own === null || identityOf(socket) !== this.#own) return;
    rmSync(join(this.#directory, PID), { force: true });
    rmSync(socket, { force: true });
  }

  close(): void {
    this.#bound?.close();
  }
}

interface Bound {
  readonly name: string;
  close(): void;
}

/**
 * The directory under a name that fits: the name of a socket has at most 107 bytes, and Linux has a short name for
 * everything that is open.
 */
class Place {
  readonly #directory: string;
  readonly #handle: number | null;

  constructor(directory: string) {
    this.#handle = process.platform === "linux" ? openSync(directory, "r") : null;
    this.#directory = this.#handle === null ? directory : `/proc/self/fd/${this.#handle}`;
  }

  path(name: string): string {
    return join(this.#directory, name);
  }

  close(): void {
    if (this.#handle !== null) closeSync(this.#handle);
  }
}

/** Removes sockets of processes that were killed while they opened the journal. Young ones may not listen yet. */
async function clearStrays(place: Place, directory: string): Promise<void> {
  for (const name of readdirSync(directory)) {
    if (!/^owner-[0-9a-f]{16}\.sock$/.test(name)) continue;
    const found = lstatSync(place.path(name), { throwIfNoEntry: false });
    const isOld = found !== undefined && Date.now() - found.mtimeMs > STRAY_MS;
    if (isOld && !(await isListening(place.path(name)))) rmSync(place.path(name), { force: true });
  }
}

/** Null, with a warning, where there can be no socket. */
async function bind(
  place: Place,
  directory: string,
  onWarning?: (text: string) => void,
): Promise<Bound | null> {
  const name = `owner-${randomBytes(8).toString("hex")}.sock`;
  const server = createServer((socket) => socket.destroy());
  try {
    await listening(server, place.path(name));
    chmodSync(place.path(name), 0o600);
  } catch (error) {
    server.close();
    place.close();
    onWarning?.(
      `a second process that opens the journal in ${directory} will take it over instead of being refused, because ` +
        `no socket can be made there (${error instanceof Error ? error.message : String(error)})`,
    );
    return null;
  }
  server.unref();
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    rmSync(place.path(name), { force: true });
    server.close();
    place.close();
  };
  return { name, close };
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}

/** A process that is stopped accepts nothing, but the kernel does so for it, and says EAGAIN when too many wait. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

/** Differs for any two sockets that were ever made under one name; null if there is none. */
function identityOf(path: string): string | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino} ${found.mtimeNs}`;
}

/** Until an opening has the journal (`confirm`) or gives up, its socket has the name that it was made with, too. */
function isUndecided(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined || found.nlink > 1;
}

/** The number of the process that has the journal, for people to read. */
function ownerIn(directory: string): string | null {
  try {
    return readFileSync(join(directory, PID), "utf8").trim();
  } catch {
    return null; // It is a help, not a proof.
  }
}
