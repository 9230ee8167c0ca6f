import { createHash } from "node:crypto";
import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Code, HeadwaterError } from "../errors.js";
import type { ProgramHosts } from "../host/fleet/index.js";
import type { ChildrenPage, ContextOutline, Inspector } from "../host/inspector.js";
import type { ParkedEvents } from "../host/node/index.js";
import type { Kind } from "../observe/index.js";
import { encode } from "../state/codec.js";
import { kindsIn, type Observe, streamFacts } from "./admin-feed.js";
import { type Arguments, absent, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { jsonOf } from "./journal-values.js";
import { messageOf } from "./report.js";

/**
 * The door through which `headwater hosts`, `events` and `observe` reach a program that runs: a socket in the file system that
 * only its owner can open. One line of JSON goes in, one comes out; to observers, one for each fact.
 */

export const ACTIONS = ["list", "add", "drain", "remove", "move"] as const;

/** What `headwater events parked` calls them, and what they are called here. */
export const PARKED_ACTIONS = { list: "parked", replay: "replay", drop: "drop" } as const;

/** What a program lets be done to it. */
export interface Reached {
  /** Throws if it has none. */
  hosts(): ProgramHosts;
  readonly parked: ParkedEvents;
  readonly inspector: Inspector;
  readonly observe: Observe;
}

export interface AdminRequest {
  readonly action:
    | (typeof ACTIONS)[number]
    | (typeof PARKED_ACTIONS)[keyof typeof PARKED_ACTIONS]
    | "observe"
    | "state";
  readonly kinds?: readonly string[] | undefined;
  readonly event?: string | undefined;
  readonly count?: number | undefined;
  readonly host?: number | undefined;
  readonly context?: string | undefined;
}

/** What a running program says of a context. */
export interface ShownState extends Pick<ContextOutline, "address" | "className" | "host"> {
  readonly state: unknown;
  readonly below: Readonly<Record<string, ChildrenPage>>;
}

type Answer = { readonly value: unknown } | { readonly code: string | null; readonly message: string };

/** What a request is, at most. */
const LINE_BYTES_MAX = 64 * 1024;
/** Of a whole fleet. */
const ANSWER_BYTES_MAX = 16 * 2 ** 20;
const STATE_BYTES_MAX = 2 ** 20;
const CONNECTIONS_MAX = 16;
/** How long a client may take to send its request. */
const REQUEST_MS_MAX = 5000;
/** What operating systems take as the name of a socket. */
const PATH_BYTES_MAX = 100;

/**
 * The door of the program that has this journal: a socket in a folder of the user's own, not in the journal, which need not be a
 * directory and is not the place for what lasts as long as a process.
 */
export function doorOf(journal: string): string {
  const address = existsSync(journal) ? realpathSync(journal) : resolve(journal);
  const name = createHash("sha256").update(address).digest("hex").slice(0, 16);
  return join(process.env.XDG_RUNTIME_DIR ?? ownFolder(), `headwater-${name}.sock`);
}

/** In the folder for temporary files, which all users share: it must be ours, and closed to others. */
function ownFolder(): string {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `headwater-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const isOurs = process.getuid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
  if (found.isDirectory() && isOurs) return folder;
  throw noDoor(
    folder,
    "the folder belongs to another user, or others can use it; choose another place with --admin",
  );
}

/** Where the program listens that a command is about. */
export function runningProgram(command: CliCommand, { values }: Arguments): string {
  const [admin, journal] = [values.get("admin"), values.get("journal")];
  const named = admin ?? journal;
  if (named !== undefined && !existsSync(named)) throw absent(`There is no ${named}.`, command);
  if (admin !== undefined) return admin;
  if (journal !== undefined) return doorOf(journal);
  throw misused(
    command,
    "Which program? Name its journal (--journal DIR) or where it listens (--admin PATH).",
  );
}

/**
 * Opens a door; returns how to close it. What is at the path stays, unless it is a socket that a process has left.
 * `isOurs`: a process that still listens there has lost its journal to this one.
 */
export async function openDoor(path: string, reached: Reached, isOurs: boolean): Promise<() => void> {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw noDoor(path, `its name has more than ${PATH_BYTES_MAX} bytes; choose a shorter one with --admin`);
  }
  await clear(path, isOurs);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    receive(socket, reached);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, path);
  server.unref();
  return () => {
    server.close();
    for (const socket of open) socket.end(); // or observers would keep the process from ending
  };
}

async function clear(path: string, isOurs: boolean): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw noDoor(path, "something else is there, and it stays; choose a name that is free with --admin");
  }
  if (!isOurs && (await isAnswered(path))) throw noDoor(path, "another program listens there");
  rmSync(path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const mask = process.umask(0o177); // no other user may open it, not even for a moment
    try {
      server.once("error", (error) => reject(noDoor(path, error.message, error)));
      server.listen(path, () => {
        chmodSync(path, 0o600);
        resolve();
      });
    } catch (error) {
      reject(noDoor(path, messageOf(error), error));
    } finally {
      process.umask(mask);
    }
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on("connect", () => socket.destroy());
    socket.on("connect", () => resolve(true));
    // EAGAIN: it has not accepted for long, because it is stopped or busy.
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

function receive(socket: Socket, reached: Reached): void {
  let text = "";
  const late = setTimeout(() => socket.destroy(), REQUEST_MS_MAX);
  socket.on("error", () => {});
  socket.on("close", () => clearTimeout(late));
  socket.setEncoding("utf8").on("data", (some: string) => {
    if (text.includes("\n")) return; // one request for each connection
    text += some;
    if (text.length > LINE_BYTES_MAX) socket.destroy();
    const end = text.indexOf("\n");
    if (end < 0 || socket.destroyed) return;
    clearTimeout(late);
    const line = text.slice(0, end);
    const kinds = observedIn(line);
    if (kinds !== null) return streamFacts(socket, kinds, reached.observe);
    void answerTo(line, reached).then((answer) => socket.end(`${JSON.stringify(answer)}\n`));
  });
}

/** The kinds of facts that a request wants to observe; null if it wants something else. */
function observedIn(line: string): readonly Kind[] | null {
  try {
    const { action, kinds = [] } = JSON.parse(line) as AdminRequest;
    return action === "observe" ? kindsIn(kinds) : null;
  } catch {
    return null; // `answerTo` says what is wrong with it
  }
}

async function answerTo(line: string, reached: Reached): Promise<Answer> {
  try {
    return { value: await carryOut(JSON.parse(line) as AdminRequest, reached) };
  } catch (error) {
    return { code: error instanceof HeadwaterError ? error.code : null, message: messageOf(error) };
  }
}

async function carryOut(
  { action, count, host = -1, context, event = "" }: AdminRequest,
  { hosts, parked, inspector }: Reached,
): Promise<unknown> {
  switch (action) {
    case "list":
      return hosts().list();
    case "add":
      return await hosts().add(count);
    case "drain":
      return await hosts().drain(host);
    case "remove":
      return await hosts().remove(host);
    case "move":
      return await hosts().move(String(context), host);
    case "state":
      return await shownContext(inspector, context);
    case "parked":
      return parked.list().map(({ args, ...rest }) => ({ ...rest, args: json([...args]) }));
    case "replay":
      return json(await parked.replay(event));
    case "drop":
      return await parked.drop(event);
    default:
      throw new HeadwaterError("HW-6016", `"${String(action)}" is nothing that a program can be asked for.`);
  }
}

/** A context with its state, and the first contexts below it. */
async function shownContext(inspector: Inspector, named: string | undefined): Promise<ShownState> {
  const { address, className, host, children } = inspector.outline(named ?? inspector.roots[0] ?? "");
  const state: unknown = JSON.parse(await inspector.state(address, STATE_BYTES_MAX));
  const below = children.map(({ field, isSingle }): [string, ChildrenPage] => [
    field,
    isSingle ? { addresses: [`${address}.${field}`], hasMore: false } : inspector.children(address, field),
  ]);
  return { address, className, host, state, below: Object.fromEntries(below) };
}

/** Values of programs, as far as JSON has words for them. */
function json(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(jsonOf(encode(value)));
}

/** Asks a program that runs. */
export function askDoor(path: string, request: AdminRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on("error", (error) => {
      const why =
        "code" in error && (error.code === "ENOENT" || error.code === "ECONNREFUSED")
          ? "no process is there"
          : error.message;
      const what = `no program listens at ${path}: ${why}. Start one with \`headwater run PROGRAM --journal DIR\`, or with --hosts 2 and --admin.`;
      reject(new HeadwaterError("HW-6016", what, { cause: error }));
    });
    socket.setEncoding("utf8").on("data", (some: string) => {
      text += some;
      if (text.length > ANSWER_BYTES_MAX) socket.destroy();
    });
    socket.on("close", () => {
      try {
        const answer = JSON.parse(text) as Answer;
        if ("value" in answer || !("message" in answer)) resolve((answer as { value?: unknown }).value);
        else if (answer.code === null) reject(new Error(answer.message));
        else reject(HeadwaterError.restored(answer.code as Code, answer.message));
      } catch {
        reject(new HeadwaterError("HW-6016", `the program at ${path} has ended before it answered.`));
      }
    });
  });
}

function noDoor(path: string, why: string, cause?: unknown): HeadwaterError {
  return new HeadwaterError("HW-6016", `the program cannot be reached at ${path}: ${why}.`, { cause });
}
