import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net";
import type { TestContext } from "node:test";

export interface Received {
  readonly key: string;
  readonly headers: IncomingMessage["headers"];
  readonly numbers: readonly number[];
  readonly body: string;
}

/** A web server that takes batches. `answer` decides what becomes of each request; a batch counts as taken when it was answered with 200. */
export async function httpReceiver(
  t: TestContext,
  answer: (request: Received, response: ServerResponse, attempt: number) => void = (_, response) =>
    response.end(),
) {
  const received: Received[] = [];
  const server = createHttp(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const each = {
      key: String(request.headers["idempotency-key"]),
      headers: request.headers,
      numbers: numbersOf(body),
      body,
    };
    received.push(each);
    answer(each, response, received.filter(({ key }) => key === each.key).length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, port, url: `http://127.0.0.1:${port}/rows` };
}

export function numbersOf(ndjson: string): number[] {
  return ndjson
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { number: number }).number);
}

/** A TCP port that takes lines. `take` sees each row's number with its socket. */
export async function tcpReceiver(t: TestContext, take: (number: number, socket: Socket) => void, port = 0) {
  const sockets = new Set<Socket>();
  const server = createTcp((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines)
        if (!socket.destroyed) take((JSON.parse(line) as { number: number }).number, socket);
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  t.after(close);
  return { port: (server.address() as AddressInfo).port, close };
}
