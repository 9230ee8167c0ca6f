import { connect, type Socket } from "node:net";

const HEADERS_END = Buffer.from("\r\n\r\n");

/** One connection to a server, for requests one after the other. Reads no more of answers than it must. */
export class Connection {
  readonly #socket: Socket;
  #parts: Buffer[] = [];
  #missing = -1;
  #resolve: (answer: Buffer) => void = () => {};
  #reject: (error: Error) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#hear(chunk));
    socket.on("close", () => this.#reject(new Error("the server closed the connection.")));
    socket.on("error", (error) => this.#reject(error));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Connection(socket)));
    });
  }

  /** The whole answer to a request that is written out in full. */
  ask(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#reject = () => {};
    this.#socket.destroy();
  }

  #hear(chunk: Buffer): void {
    this.#parts.push(chunk);
    if (this.#missing < 0) {
      const all = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
      const end = all.indexOf(HEADERS_END);
      if (end < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(all.toString("latin1", 0, end))?.[1];
      this.#missing = end + HEADERS_END.length + Number(length) - all.length;
    } else {
      this.#missing -= chunk.length;
    }
    if (this.#missing > 0) return;
    const answer = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#missing = -1;
    this.#resolve(answer);
  }
}

export function requestOf(
  method: string,
  path: string,
  body: string | Buffer = "",
  type = "text/markdown",
): Buffer {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  const about =
    body.length === 0 ? "" : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.concat([Buffer.from(`${head}${about}\r\n`), Buffer.from(body)]);
}

/** What one round of load on a server gave. */
export interface Round {
  readonly requests: number;
  readonly seconds: number;
  readonly probesMs: readonly number[];
}

/**
 * So many connections ask for the heavy route, each again as soon as it has its answer, while one asks for the trivial
 * route now and then.
 */
export async function load(
  port: number,
  heavy: Buffer,
  trivial: Buffer,
  { connections, ms }: { readonly connections: number; readonly ms: number },
): Promise<Round> {
  const began = performance.now();
  const isOver = () => performance.now() - began >= ms;
  let requests = 0;
  const asking = Array.from({ length: connections }, async () => {
    const connection = await Connection.open(port);
    while (!isOver()) {
      const answer = await connection.ask(heavy);
      if (!answer.subarray(0, 12).toString().endsWith(" 200")) throw new Error(`it answered:\n${answer}`);
      requests += 1;
    }
    connection.close();
  });
  const probesMs: number[] = [];
  const probe = await Connection.open(port);
  while (!isOver()) {
    const asked = performance.now();
    await probe.ask(trivial);
    probesMs.push(performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  probe.close();
  await Promise.all(asking);
  return { requests, seconds: (performance.now() - began) / 1000, probesMs };
}

const PROBE_EVERY_MS = 2;
