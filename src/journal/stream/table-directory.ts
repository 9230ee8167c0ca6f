import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { bootId } from "../log/file-disk.js";
import { isListening } from "../owner-lock.js";

const [TABLE, NEW] = ["headwater-table-", "headwater-new-"];
const SOCKET = "owner.sock";
const BOOT = "owner.boot";
/** What shows no owner is kept for so long after it was used last, and its owner says again and again that it uses it. */
const UNUSED_MS = 7 * 86_400_000;
const USED_MS = 3_600_000;

export interface TableDirectory {
  readonly path: string;
  /** It is removed. */
  release(): Promise<void>;
}

export interface TablePlace {
  /** Where tables are; the machine's directory for temporary files. */
  readonly parent?: string;
  readonly now?: () => number;
}

/**
 * A directory for the table of a process that follows a log: a cache, which is removed with its process. One that was killed leaves its table behind,
 * so each process first removes the tables of processes that are gone. The owner listens on a socket in the directory, which the kernel closes
 * with it, however it ends; a stopped process, and one in another container that shares the directory, still has it.
 */
export async function tableDirectory({
  parent = tmpdir(),
  now = Date.now,
}: TablePlace = {}): Promise<TableDirectory> {
  const made = await mkdtemp(join(parent, NEW));
  const path = join(parent, TABLE + basename(made).slice(NEW.length));
  const server = await owned(made);
  await rename(made, path); // under its name it has an owner from the beginning
  const using = setInterval(() => void touch(path, now()), USED_MS).unref();
  await removeLeftTables({ parent, now });
  return {
    path,
    release: async () => {
      clearInterval(using);
      await rm(path, { recursive: true, force: true });
      server?.close();
    },
  };
}

/** Removes the tables of processes that are gone. Resolves with how many there were. */
export async function removeLeftTables({
  parent = tmpdir(),
  now = Date.now,
}: TablePlace = {}): Promise<number> {
  let removed = 0;
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(TABLE) && !name.startsWith(NEW)) continue;
    const path = join(parent, name);
    if (!(await isLeft(path, now()))) continue;
    // Of another user, or removed by another process at the same time: then it is not this one's to remove.
    await rm(path, { recursive: true, force: true }).then(
      () => {
        removed += 1;
      },
      () => {},
    );
  }
  return removed;
}

async function isLeft(path: string, now: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isDirectory()) return false;
  if (now - found.mtimeMs > UNUSED_MS && !(await isListening(join(path, SOCKET)))) return true;
  // The directory may be shared with another machine, whose sockets cannot be asked.
  const boot = await readFile(join(path, BOOT), "utf8").catch(() => null);
  if (boot === null || boot !== bootId()) return false;
  return !(await isListening(join(path, SOCKET)));
}

/** Null where there can be no socket: then nothing says who uses the directory but its age. */
async function owned(directory: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(join(directory, SOCKET), resolve);
    });
  } catch {
    server.close();
    return null;
  }
  server.unref();
  await writeFile(join(directory, BOOT), bootId());
  return server;
}

async function touch(path: string, now: number): Promise<void> {
  await utimes(path, now / 1000, now / 1000).catch(() => {}); // it was removed with its process
}
