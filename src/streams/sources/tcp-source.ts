import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { HeadwaterError } from "../../errors.js";
import type { SourceDefinition } from "./definition.js";
import type { Intake, RunningSource } from "./source.js";

const CONNECTIONS_MAX = 100;
const LINE_BYTES_MAX = 1024 * 1024;

/**
 * A port that takes lines of NDJSON. After each batch that is kept, the sender gets a line with the number of lines that were taken of its
 * connection. A sender that waits for it and repeats the rest over a new connection loses nothing; one that does not wait may lose what was
 * on its way when a connection broke. A connection is read no faster than its rows are kept.
 */
export class TcpSource implements RunningSource {
  readonly #sockets = new Set<Socket>();
  readonly #taking = new Set<Promise<void>>();

  private constructor(
    readonly server: Server,
    readonly intake: Intake,
  ) {
    server.on("connection", (socket) => {
      if (this.#sockets.size >= CONNECTIONS_MAX) return void socket.destroy();
      this.#sockets.add(socket);
      const taking = this.#taken(socket).finally(() => {
        this.#sockets.delete(socket);
        this.#taking.delete(taking);
      });
      this.#taking.add(taking);
    });
  }

  static async listen({ from }: SourceDefinition, intake: Intake): Promise<TcpSource> {
    const url = new URL(from);
    const server = createServer({ noDelay: true, allowHalfOpen: true });
    const source = new TcpSource(server, intake);
    server.listen(Number(url.port), url.hostname.replace(/^\[(.*)\]$/, "$1"));
    await once(server, "listening");
    return source;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async #taken(socket: Socket): Promise<void> {
    socket.on("error", () => {}); // reading it ends, too
    const who = `${socket.remoteAddress}:${socket.remotePort}`;
    let rest: Buffer = Buffer.alloc(0);
    let lines = 0;
    const take = async (bytes: Buffer) => {
      if (bytes.length === 0) return;
      await this.intake.take([{ bytes, place: `${who} line ${lines + 1}` }], null);
      for (const byte of bytes) if (byte === 10) lines++;
      if (bytes.at(-1) !== 10) lines++;
      if (socket.writable) socket.write(`${lines}\n`);
    };
    try {
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        const all = Buffer.concat([rest, chunk as Buffer]);
        const end = all.lastIndexOf(10) + 1;
        rest = all.subarray(end);
        if (rest.length > LINE_BYTES_MAX)
          throw new HeadwaterError("HW-5302", `a line of ${who} has more than ${LINE_BYTES_MAX} bytes.`);
        await take(all.subarray(0, end));
      }
      await take(rest);
      socket.end();
    } catch (error) {
      this.intake.failed(error);
      socket.destroy();
    }
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#taking);
  }
}
