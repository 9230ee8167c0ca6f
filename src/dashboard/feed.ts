import type { IncomingMessage, ServerResponse } from "node:http";
import type { HostInfo } from "../host/fleet/index.js";
import type { Monitor } from "./monitor.js";

/** A page that has not read so many bytes misses seconds and notices until it has. */
const UNREAD_BYTES_MAX = 256 * 1024;

/** What goes on, as it happens: one line of JSON per second, with the hosts, and one per notice, until the page closes. */
export function sendFeed(
  request: IncomingMessage,
  response: ServerResponse,
  monitor: Monitor,
  hosts: () => readonly HostInfo[] | null,
): void {
  response.writeHead(200, {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.flushHeaders();
  const send = (line: unknown) => {
    if (response.writableLength < UNREAD_BYTES_MAX) response.write(`${JSON.stringify(line)}\n`);
  };
  const close = monitor.open({
    second: (second) => send({ kind: "second", ...second, hosts: hosts() }),
    notice: send,
  });
  request.socket.once("close", close);
  response.once("close", close);
}
