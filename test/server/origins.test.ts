import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { dial, exchange, posting } from "./raw.js";
import { started } from "./town.js";

/** Which web pages may ask: every name, at every kind of address, over HTTP and WebSocket. */

const LISTED = "https://example.org";
const LOOPBACK = ["127.0.0.1", "localhost", "127.1.2.3"];
const NAMES = [...LOOPBACK, "evil.example", "192.168.1.5", "example.org"];

interface Asked {
  readonly origin: string;
  readonly host: string;
}

function* everyRequest(port: number): Iterable<Asked> {
  for (const host of NAMES.map((name) => `${name}:${port}`)) {
    yield { origin: `http://${host}`, host }; // what a page of this server says, and one whose name was rebound
    for (const name of NAMES) yield { origin: `http://${name}:${port + 1}`, host };
    for (const origin of [LISTED, "null", "http://example.org", `${LISTED}.evil.example`])
      yield { origin, host };
  }
}

/** The rule: listed, or a loopback name on a server that only this machine can reach. */
function isTrusted({ origin, host }: Asked, boundTo: string): boolean {
  const isOwn = origin === `http://${host}` && LOOPBACK.includes(host.split(":")[0] ?? "");
  return origin === LISTED || (isOwn && boundTo === "127.0.0.1");
}

for (const boundTo of ["127.0.0.1", "0.0.0.0"]) {
  test(`a server at ${boundTo} answers pages of listed origins${boundTo === "127.0.0.1" ? " and of its own" : " only"}`, async (t) => {
    const { server } = await started(t, { origins: [LISTED], host: boundTo });
    for (const asked of everyRequest(server.port)) {
      const { origin, host } = asked;
      const request = posting("echo", "[1]", [`origin: ${origin}`])
        .toString()
        .replace("host: 127.0.0.1", `host: ${host}`);
      const { status, error } = await exchange(t, server.port, request);
      assert.equal(status, isTrusted(asked, boundTo) ? 200 : 403, `${origin} at ${host}`);
      if (status === 200) continue;
      assert.equal(error?.code, "HW-4012");
      assert.ok(error.message?.includes(JSON.stringify(origin)), error.message);
      assert.match(error.message ?? "", /list it: `origins`.*--origins/);
    }
  });

  test(`a server at ${boundTo} opens sockets for the same pages`, async (t) => {
    const { server } = await started(t, { origins: [LISTED], host: boundTo });
    for (const asked of everyRequest(server.port)) {
      const socket = dial(t, server.port);
      const lines = [
        "GET /socket HTTP/1.1",
        `host: ${asked.host}`,
        `origin: ${asked.origin}`,
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      const [first] = (await once(socket, "data")) as [Buffer];
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(first.toString())?.[1]);
      assert.equal(status, isTrusted(asked, boundTo) ? 101 : 403, `${asked.origin} at ${asked.host}`);
      socket.destroy();
    }
  });
}
