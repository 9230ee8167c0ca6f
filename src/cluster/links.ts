/**
 * Links between the processes of a cluster: TCP in TLS with a pre-shared key. A process makes its key when it starts and keeps it, with
 * its address, where only holders of the cluster's NATS credentials can read it. So who has the key belongs to the cluster.
 */

import { randomBytes } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { HeadwaterError } from "../errors.js";
import {
  type BatchReceiver,
  type Carrier,
  FRAME_BYTES_MAX,
  JOINED_BYTES_MAX,
  SocketCarrier,
} from "../net/index.js";
import { decode, encode } from "../state/codec.js";
import { ownTraffic } from "./traffic.js";

/** Where a member is reached, and with which key. */
export interface LinkAddress {
  readonly host: string;
  readonly port: number;
  /** In hexadecimal. */
  readonly key: string;
}

/** What a process says first when it has connected to another. */
export interface Hello {
  readonly version: number;
  readonly log: string;
  /** Its name as a member of the cluster. */
  readonly member: string;
  /** What the connection is for: requests, one host, or what an operator asks of this member. */
  readonly role: "gateway" | "host" | "operator";
  /** The epoch of the head that is meant; 0 from an operator. */
  readonly epoch: number;
  /** The program, in words; empty from an operator. */
  readonly outline: string;
}

/** What is answered. A host hears its task instead of a welcome. */
export type Welcome =
  | { readonly kind: "welcome"; readonly history: string }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

export const LINK_VERSION = 2;

const TLS = {
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  // With a new secret for each connection: who records it and gets the key later cannot read it.
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305:DHE-PSK-AES256-GCM-SHA384",
} as const;
const KEY_BYTES = 32;
const IDENTITY = "headwater";
/** The other end does not read: the link is closed, and what has no answer is sent again over the next one. */
const UNREAD_BYTES_MAX = 64 * 2 ** 20;
const CONNECT_MS = 3000;
const CLOSE_MS = 500;
/** Connections that have not said yet what they are for. One more ends the oldest: those of members do not take long to say it. */
const UNKNOWN_MAX = 256;
/** As much is kept of what such a connection sends: a hello has the program's outline. */
const UNKNOWN_BYTES_MAX = FRAME_BYTES_MAX;

type Listener = BatchReceiver<unknown> & { closed(): void };

/** One end of a link. Messages are gathered in a turn of the event loop and leave together. */
export class Link<Out> implements Carrier<unknown> {
  readonly #socket: Socket;
  readonly #carrier: SocketCarrier<unknown>;
  #listener: Listener | null = null;
  #outgoing: Out[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#listener?.closed());
    this.#carrier = new SocketCarrier(
      socket,
      { batch: (bytes) => this.#listener?.batch(bytes), aside: (aside) => this.#listener?.aside(aside) },
      () => socket.destroy(),
    );
  }

  /** The longest message that is taken. */
  set bytesMax(bytes: number) {
    this.#carrier.bytesMax = bytes;
  }

  onClosed(closed: () => void): void {
    this.#socket.on("close", closed);
  }

  /** What comes from now on is for this listener, and no longer for the one before. */
  listen(listener: Listener): void {
    this.#listener = listener;
    if (this.#socket.destroyed) listener.closed();
  }

  tell(aside: unknown): void {
    if (!this.#socket.destroyed) this.#carrier.tell(aside);
  }

  post(bytes: Uint8Array): void {
    if (!this.#socket.destroyed) this.#carrier.post(bytes);
  }

  send(message: Out): void {
    if (this.#outgoing.push(message) > 1) return;
    setImmediate(() => {
      const outgoing = this.#outgoing;
      this.#outgoing = [];
      if (this.#socket.destroyed) return;
      if (this.#socket.writableLength > UNREAD_BYTES_MAX) this.#socket.destroy();
      else this.#carrier.post(encode(outgoing));
    });
  }

  /** Closes the link when what was told and posted has left, and after a while in any case. */
  close(): void {
    this.#socket.destroySoon();
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
  }

  /** Closes the link at once. */
  cut(): void {
    this.#socket.destroy();
  }
}

/** The messages in a batch of `Link.send`. */
export function messagesIn<In>(bytes: Uint8Array): In[] {
  return decode(bytes) as In[];
}

export interface LinkListener<Out> {
  /** A process that has the key has said what it wants. */
  readonly accept: (link: Link<Out>, hello: Hello) => void;
  /** How long it may take to prove that it has the key, and then to say what it wants. */
  readonly patienceMs?: number;
}

/** Listens for other members, on the loopback interface unless told otherwise. */
export async function listenForLinks<Out>(
  host: string,
  { accept, patienceMs = CONNECT_MS }: LinkListener<Out>,
): Promise<{ readonly address: LinkAddress; close(): void }> {
  const key = randomBytes(KEY_BYTES);
  const sockets = new Set<Socket>();
  const unknown = new Map<string, Socket>();
  const server = createServer({
    ...TLS,
    handshakeTimeout: patienceMs,
    pskCallback: (_socket: TLSSocket, identity: string) => (identity === IDENTITY ? key : null),
  });
  server.on("connection", (socket: Socket) => {
    const name = nameOf(socket);
    sockets.add(socket);
    unknown.set(name, socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      if (unknown.get(name) === socket) unknown.delete(name);
    });
    const [oldest] = unknown.values();
    if (unknown.size > UNKNOWN_MAX) oldest?.destroy();
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    const name = nameOf(socket);
    hear<Out>(socket, patienceMs, (link, hello) => {
      unknown.delete(name);
      accept(link, hello);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const why = `other members cannot reach this process at ${host}: ${error.message}`;
      reject(new HeadwaterError("HW-3106", `${why}. Name an address of this machine.`, { cause: error }));
    });
    server.listen(0, host, resolve);
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    address: { host, port, key: key.toString("hex") },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A connection is two sockets here, with and without TLS. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Waits for what a process wants that has the key; ends the connection if that does not come, or is something else. */
function hear<Out>(
  socket: Socket,
  patienceMs: number,
  accept: (link: Link<Out>, hello: Hello) => void,
): void {
  const link = new Link<Out>(socket);
  const late = setTimeout(() => link.cut(), patienceMs).unref();
  link.bytesMax = UNKNOWN_BYTES_MAX;
  link.listen({
    aside: (aside) => {
      clearTimeout(late);
      if (!isHello(aside)) return link.cut();
      link.bytesMax = JOINED_BYTES_MAX;
      accept(link, aside);
    },
    batch: () => link.cut(),
    closed: () => clearTimeout(late),
  });
}

function isHello(said: unknown): said is Hello {
  if (typeof said !== "object" || said === null) return false;
  const { version, log, member, role, epoch, outline } = said as Partial<Record<keyof Hello, unknown>>;
  const areTexts = [log, member, role, outline].every((each) => typeof each === "string");
  return areTexts && typeof version === "number" && typeof epoch === "number";
}

/** Connects to another member. Rejects with the system's code if that is refused. */
export function connectLink({ host, port, key }: LinkAddress): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...TLS,
      host,
      port,
      pskCallback: () => ({ psk: Buffer.from(key, "hex"), identity: IDENTITY }),
      checkServerIdentity: () => undefined, // the key proves it
    });
    ownTraffic().count(socket);
    const timeout = setTimeout(() => socket.destroy(new Error("no answer")), CONNECT_MS);
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(timeout);
      reject(new Error("closed"));
    });
    socket.once("secureConnect", () => {
      clearTimeout(timeout);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
