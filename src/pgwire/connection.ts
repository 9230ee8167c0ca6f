import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type SecureContext, TLSSocket } from "node:tls";
import type { Catalog, CatalogReader } from "./catalog.js";
import { BrokenProtocol, FieldReader, Frames } from "./frames.js";
import { Output, Unreadable } from "./output.js";
import * as reply from "./replies.js";
import { PgSession } from "./session.js";
import { introspective } from "./system/index.js";

export interface ConnectionLimits {
  /** How long a client may take to sign in. */
  readonly signInMs: number;
  /** How long a client may take nothing of what it is sent. */
  readonly stalledMs: number;
  /** The largest message of a signed-in client. */
  readonly messageBytes: number;
  /** What one connection may keep of prepared statements and parameters. */
  readonly keptBytes: number;
}

const PROTOCOL = 3;
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const GSS_REQUEST = 80_877_104;
/** What a stranger may say: a user, a database, a few settings and a password. */
const STRANGER_BYTES = 10_000;

/** What clients look at to decide how to talk. The version is that of the protocol's behaviour, not of a PostgreSQL. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ["server_version", "15.0 (Headwater)"],
  ["server_version_num", "150000"],
  ["server_encoding", "UTF8"],
  ["client_encoding", "UTF8"],
  ["datestyle", "ISO, MDY"],
  ["intervalstyle", "postgres"],
  ["timezone", "UTC"],
  ["integer_datetimes", "on"],
  ["standard_conforming_strings", "on"],
  ["is_superuser", "off"],
  ["in_hot_standby", "off"],
  ["default_transaction_read_only", "on"],
  ["transaction_read_only", "on"],
  ["transaction_isolation", "serializable"],
  ["transaction isolation level", "serializable"],
  ["max_identifier_length", "63"],
  ["search_path", "public"],
]);

/** As clients expect these names to be written when they are reported at the start. */
const REPORTED: readonly (readonly [shown: string, name: string])[] = [
  ["server_version", "server_version"],
  ["server_encoding", "server_encoding"],
  ["client_encoding", "client_encoding"],
  ["DateStyle", "datestyle"],
  ["IntervalStyle", "intervalstyle"],
  ["TimeZone", "timezone"],
  ["integer_datetimes", "integer_datetimes"],
  ["standard_conforming_strings", "standard_conforming_strings"],
  ["is_superuser", "is_superuser"],
  ["in_hot_standby", "in_hot_standby"],
  ["default_transaction_read_only", "default_transaction_read_only"],
];

export interface ConnectionOptions {
  readonly catalog: Catalog;
  readonly limits: ConnectionLimits;
  /** Without it, connections stay as they are: the server refuses to listen beyond this machine then. */
  readonly secure: SecureContext | null;
  readonly version: string;
  readonly log: (line: string) => void;
}

/** One connection, from its first byte to its last. Resolves when it has ended, and never rejects. */
export async function connection(socket: Socket, options: ConnectionOptions): Promise<void> {
  const late = setTimeout(() => socket.destroy(), options.limits.signInMs);
  let stream: Duplex = socket;
  try {
    const started = await startup(socket, options.secure);
    if (started === null) return;
    stream = started.stream;
    const output = new Output(stream, options.limits.stalledMs);
    const reader = await signIn(started, output, options.catalog);
    clearTimeout(late);
    if (reader === null) return;
    const close = () => stream.destroy();
    reader.revoked.addEventListener("abort", close, { once: true });
    try {
      if (!reader.revoked.aborted) await served(started, reader, output, options);
    } finally {
      reader.revoked.removeEventListener("abort", close);
    }
  } catch (error) {
    await farewell(stream, error, options);
  } finally {
    clearTimeout(late);
    if (!stream.destroyed) stream.end();
    stream.once("error", () => {});
    setTimeout(() => socket.destroy(), 1000).unref();
  }
}

interface Started {
  readonly stream: Duplex;
  readonly frames: Frames;
  readonly user: string;
  readonly database: string;
}

/** Negotiates encryption until the client says who it is. Null for a client that has gone or only cancels something. */
async function startup(socket: Socket, secure: SecureContext | null): Promise<Started | null> {
  let stream: Duplex = socket;
  let frames = new Frames(stream);
  for (let requests = 0; requests < 3; requests++) {
    const body = await frames.startup(STRANGER_BYTES);
    if (body === null) return null;
    const code = body.readInt32BE(0);
    if (code === CANCEL_REQUEST) return null; // a query is answered from memory before a request to cancel it is read
    if (code === GSS_REQUEST) stream.write("N");
    else if (code === SSL_REQUEST && (secure === null || stream !== socket)) stream.write("N");
    else if (code === SSL_REQUEST && secure !== null) {
      // Bytes that came in the clear behind the request would be taken for encrypted ones.
      if (frames.bufferedBytes > 0) throw new BrokenProtocol("unencrypted bytes behind a request for TLS");
      await frames.release();
      socket.write("S");
      stream = new TLSSocket(socket, { isServer: true, secureContext: secure });
      frames = new Frames(stream);
    } else return said(stream, frames, body);
  }
  throw new BrokenProtocol("too many requests for encryption");
}

function said(stream: Duplex, frames: Frames, body: Buffer): Started {
  const fields = new FieldReader(body);
  const version = fields.int32();
  if (version >> 16 !== PROTOCOL)
    throw new BrokenProtocol(
      `version ${version >> 16}.${version & 0xffff} of the protocol, where 3.0 is spoken`,
    );
  const settings = new Map<string, string>();
  for (let name = fields.text(); name !== ""; name = fields.text()) settings.set(name, fields.text());
  const user = settings.get("user") ?? "";
  return { stream, frames, user, database: settings.get("database") ?? user };
}

async function signIn(
  { frames, user, database }: Started,
  output: Output,
  catalog: Catalog,
): Promise<CatalogReader | null> {
  await output.write(reply.askForPassword);
  await output.flush();
  const frame = await frames.next(STRANGER_BYTES);
  if (frame === null) return null;
  if (frame.kind !== "p") throw new BrokenProtocol("something else where a password was asked for");
  const password = new FieldReader(frame.body).text();
  const reader = await catalog.signIn({ user, database, password });
  if (reader !== null) return reader;
  const message = `password authentication failed for user "${user}"`;
  const hint = "The password is a token of the streaming service.";
  await output.write(reply.failed({ severity: "FATAL", sqlState: "28P01", message, hint }));
  await output.flush();
  return null;
}

async function served(
  { frames, user, database }: Started,
  reader: CatalogReader,
  output: Output,
  { limits, version }: ConnectionOptions,
): Promise<void> {
  await output.write(reply.signedIn);
  for (const [shown, name] of REPORTED) await output.write(reply.setting(shown, SETTINGS.get(name) ?? ""));
  await output.write(reply.backendKey(process.pid, 0));
  await output.write(reply.readyForQuery("I"));
  await output.flush();
  const about = { user, database, version };
  const session = new PgSession(introspective(reader, about), output, about, SETTINGS, limits);
  for (;;) {
    // What a pipelining client has sent already is answered in one go.
    if (frames.bufferedBytes === 0) await output.flush();
    const frame = await frames.next(limits.messageBytes);
    if (frame === null || !(await session.take(frame))) return;
    if (frame.kind === "Q" || frame.kind === "S") await output.flush();
  }
}

async function farewell(stream: Duplex, error: unknown, { limits, log }: ConnectionOptions): Promise<void> {
  if (stream.destroyed || error instanceof Unreadable) return;
  if (!(error instanceof BrokenProtocol)) {
    log(
      `a connection of a PostgreSQL client failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    return;
  }
  const message = `HW-4014: the client sent ${error.message}.`;
  try {
    const output = new Output(stream, limits.stalledMs);
    await output.write(reply.failed({ severity: "FATAL", sqlState: "08P01", message }));
    await output.flush();
  } catch {
    // It cannot be told.
  }
}
