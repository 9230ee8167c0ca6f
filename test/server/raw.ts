import { once } from "node:events";
import { createServer, type Socket, type Server as TcpServer, connect as tcp } from "node:net";
import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { pack } from "#src/protocol/frames.js";
import { Unpacker } from "#src/protocol/unpack.js";
import { type Reply, replyOf } from "./town.js";

/** Ways to say things that no well-behaved client says. */

/** A TCP connection to a server. */
export function dial(t: TestContext, port: number, localAddress = "127.0.0.1"): Socket {
  const socket = tcp({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {}); // being cut off is what many of these tests want
  t.after(() => socket.destroy());
  return socket;
}

/** Sends bytes as they are and reads the first reply to them. */
export async function exchange(t: TestContext, port: number, request: string | Buffer): Promise<Reply> {
  const socket = dial(t, port);
  socket.write(request);
  return await firstReply(socket);
}

export async function firstReply(socket: Socket): Promise<Reply> {
  const [reply] = await repliesOn(socket, 1);
  if (reply === undefined) throw new Error("the connection ended without a reply");
  return reply;
}

export async function repliesOn(socket: Socket, count: number): Promise<Reply[]> {
  const replies: Reply[] = [];
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (let found = replyIn(bytes); found !== null; found = replyIn(bytes)) {
      replies.push(found.reply);
      bytes = bytes.subarray(found.length);
    }
    if (replies.length >= count) return replies;
  }
  return replies;
}

function replyIn(bytes: Buffer): { reply: Reply; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.subarray(0, end).toString();
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = end + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  if (status === undefined || bytes.length < length) return null;
  return { reply: replyOf(Number(status), bytes.subarray(end + 4, length).toString()), length };
}

/** A POST as bytes. */
export function posting(name: string, body: string | Buffer, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body);
  const lines = [
    `POST /api/${name} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `content-length: ${bytes.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]);
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket that says exactly what it is told to, and what it has heard. */
export class RawSocket {
  readonly ws: WebSocket;
  readonly heard: unknown[][] = [];
  readonly closed: Promise<Closed>;
  readonly opened: Promise<void>;
  #look = () => {};

  constructor(t: TestContext, url: string, headers: Record<string, string> = {}, localAddress = "127.0.0.1") {
    const options = { headers, perMessageDeflate: false, localAddress };
    this.ws = new WebSocket(`${url.replace("http", "ws")}/socket`, options);
    this.opened = new Promise((resolve) => this.ws.once("open", resolve));
    this.closed = new Promise((resolve) =>
      this.ws.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
    );
    this.ws.on("error", () => {});
    this.ws.on("message", (data: Buffer) => {
      const unpacker = new Unpacker(data, 1000, false);
      while (!unpacker.isDone) this.heard.push(unpacker.next() as unknown[]);
      this.#look();
    });
    t.after(() => this.ws.terminate());
  }

  /** Opens a session as the client library does. */
  async hello(secret = "0".repeat(48), token: string | null = null, seen = 0): Promise<unknown[]> {
    await this.opened;
    this.say([0, "hello", 1, secret, token, seen]);
    return await this.hears(([kind, what]) => kind === 0 && what === "welcome");
  }

  say(...messages: unknown[]): void {
    this.ws.send(Buffer.concat(messages.map(pack)));
  }

  ask(id: number, name: string, ...args: unknown[]): void {
    this.say([id, name, pack(args)]);
  }

  reply(id: number): Promise<unknown[]> {
    return this.hears(([kind]) => kind === id);
  }

  /** Resolves with the first message, heard already or to come, of which this is so. */
  async hears(isIt: (message: unknown[]) => boolean): Promise<unknown[]> {
    for (;;) {
      const found = this.heard.find(isIt);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }
}

/** Stands between a client and a server, and can cut them off from each other. */
export class Wire {
  readonly #server: TcpServer;
  readonly #pairs = new Set<[Socket, Socket]>();
  /** Nothing gets through to the client, although its connection seems to stand. */
  isMute = false;
  /** Nothing gets through to the server. */
  isDeaf = false;
  connections = 0;
  #cutAfter: { from: "near" | "far"; bytes: number } | null = null;

  private constructor(
    t: TestContext,
    readonly to: () => number,
  ) {
    this.#server = createServer((near) => this.#join(near));
    t.after(() => {
      this.cut();
      this.#server.close();
    });
  }

  static async between(t: TestContext, to: () => number): Promise<Wire> {
    const wire = new Wire(t, to);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  /** Cuts when so many more bytes have come from the client ("near") or the server ("far"); those get through. */
  cutAfter(bytes: number, from: "near" | "far"): void {
    this.#cutAfter = { from, bytes };
  }

  /** Passes on as much as may pass. */
  #pass(from: "near" | "far", chunk: Buffer, to: Socket): void {
    const limit = this.#cutAfter?.from === from ? this.#cutAfter : null;
    if (limit === null || chunk.length < limit.bytes) {
      if (limit !== null) limit.bytes -= chunk.length;
      to.write(chunk);
      return;
    }
    this.#cutAfter = null;
    to.write(chunk.subarray(0, limit.bytes), () => this.cut());
  }

  #join(near: Socket): void {
    this.connections += 1;
    const far = tcp(this.to(), "127.0.0.1");
    this.#pairs.add([near, far]);
    near.on("data", (chunk) => {
      if (!this.isDeaf) this.#pass("near", chunk, far);
    });
    far.on("data", (chunk) => {
      if (!this.isMute) this.#pass("far", chunk, near);
    });
    for (const socket of [near, far]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        far.destroy();
        if (!this.isMute) near.destroy();
      });
    }
  }
}
