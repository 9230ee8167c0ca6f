import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that can be held up, slowed down and broken, as networks do. Bytes that are held up arrive later or never. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #delayMs = 0;
  #isHeld = false;

  private constructor(target: string) {
    const [host = "", port] = target.split(":");
    this.#server = createServer((incoming) => {
      const outgoing = connect(Number(port), host);
      const pair = [incoming, outgoing] as const;
      this.#pairs.add(pair);
      this.#carry(incoming, outgoing);
      this.#carry(outgoing, incoming);
      for (const socket of pair) {
        socket.setNoDelay(true);
        socket.on("error", () => {});
        socket.on("close", () => this.#end(pair));
      }
      if (this.#isHeld) for (const socket of pair) socket.pause();
    });
  }

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A partition: nothing passes until it is let go. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of [...this.#pairs].flat()) socket.pause();
  }

  letGo(): void {
    this.#isHeld = false;
    for (const socket of [...this.#pairs].flat()) socket.resume();
  }

  /** Everything takes so much longer. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Connections break, and what is on its way is lost. */
  cut(): void {
    for (const pair of [...this.#pairs]) this.#end(pair);
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #carry(from: Socket, to: Socket): void {
    from.on("data", (bytes) => {
      const ms = this.#delayMs;
      if (ms === 0) to.write(bytes);
      else setTimeout(() => to.writable && to.write(bytes), ms);
    });
  }

  #end(pair: readonly [Socket, Socket]): void {
    this.#pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  }
}
