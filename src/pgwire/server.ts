import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { HeadwaterError } from "../errors.js";
import type { Catalog } from "./catalog.js";
import { type ConnectionLimits, connection } from "./connection.js";

export interface PgServerOptions {
  readonly catalog: Catalog;
  readonly port?: number;
  readonly host?: string;
  /** A certificate and its key, in PEM. Needed to listen beyond this machine: passwords are tokens. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  readonly limits?: Partial<PgServerLimits>;
  /** What `version()` says. */
  readonly version?: string;
  readonly log?: (line: string) => void;
}

export interface PgServerLimits extends ConnectionLimits {
  readonly connections: number;
}

const LIMITS: PgServerLimits = {
  connections: 100,
  signInMs: 10_000,
  stalledMs: 60_000,
  messageBytes: 1024 * 1024,
  keptBytes: 4 * 1024 * 1024,
};

export interface PgServer {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/** Serves a catalog to clients of PostgreSQL. Resolves once it listens; rejects with HW-4020 if it cannot. */
export async function servePostgres(options: PgServerOptions): Promise<PgServer> {
  const { host = "127.0.0.1", port = 0, tls, log = () => {} } = options;
  if (tls === undefined && !LOOPBACK.has(host))
    throw new HeadwaterError(
      "HW-4020",
      `views are not served to PostgreSQL clients at ${host} without TLS, because passwords are tokens. Give a certificate and a key, or listen on 127.0.0.1.`,
    );
  const limits = { ...LIMITS, ...options.limits };
  const version = options.version ?? "Headwater, read-only, PostgreSQL 15 protocol";
  const secure = tls === undefined ? null : createSecureContext(tls);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    if (open.size >= limits.connections) return void socket.destroy();
    open.add(socket);
    socket.on("error", () => {}); // the connection ends, and `connection` notices
    socket.setNoDelay(true);
    void connection(socket, { catalog: options.catalog, limits, secure, version, log }).finally(() =>
      open.delete(socket),
    );
  });
  await new Promise<void>((resolve, reject) => {
    const cannot = (cause: Error) =>
      reject(
        new HeadwaterError("HW-4020", `PostgreSQL clients cannot be served: ${cause.message}.`, { cause }),
      );
    server.once("error", cannot);
    server.listen(port, host, () => {
      server.off("error", cannot);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
