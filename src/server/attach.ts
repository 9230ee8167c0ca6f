import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { cannotStart, serverLimits } from "./limits.js";
import type { OnRequest, OnUpgrade, PortListener } from "./listen.js";
import { Refusals } from "./log.js";
import { isLoopback } from "./origin.js";
import type { ServeOptions } from "./serve.js";

type Listener = (...args: unknown[]) => void;

const PATH = /^(\/[\w.~-]+)+$/;

/** A part of a server that a program has already: requests below a path. It gives back what it took when it is closed. */
export function attach(
  http: HttpServer,
  { path = "/headwater", limits: given, log = () => {} }: ServeOptions,
): PortListener {
  if (!PATH.test(path)) throw cannotStart(`${JSON.stringify(path)} is not a path such as "/headwater"`);
  const limits = serverLimits(given);
  const address = http.address() as AddressInfo | string | null;
  const bound = typeof address === "object" ? address : null;
  let detach = () => {};
  return {
    http,
    refusals: new Refusals(log),
    limits,
    url: `http://${shown(bound)}${path}`,
    port: bound?.port ?? 0,
    // What it listens at may not be known yet; then only listed origins are let in.
    isLocal: bound !== null && isLoopback(bound.address),
    open: (request, upgrade) => {
      const callOff = [route(http, "request", path, request), route(http, "upgrade", path, upgrade)];
      detach = () => callOff.forEach((each) => void each());
    },
    finish: async (graceMs, open) => {
      const cutOff = setTimeout(() => open.terminate(), graceMs);
      cutOff.unref();
      detach();
    },
    close: () => detach(),
  };
}

function shown(bound: AddressInfo | null): string {
  if (bound === null) return "localhost";
  return `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

/** Takes what is below the path, and leaves the rest to who listened before. Returns how to undo that. */
function route(
  http: HttpServer,
  event: "request" | "upgrade",
  path: string,
  ours: OnRequest | OnUpgrade,
): () => void {
  const others = http.listeners(event) as Listener[];
  http.removeAllListeners(event);
  const routed: Listener = (...args) => {
    const request = args[0] as IncomingMessage;
    const { url = "" } = request;
    if (url === path || url.startsWith(`${path}/`)) {
      request.url = url.slice(path.length) || "/";
      return (ours as Listener)(...args);
    }
    for (const listener of others) listener.apply(http, args);
    if (others.length === 0 && event === "upgrade") (args[1] as { destroy(): void }).destroy();
  };
  http.on(event, routed);
  return () => {
    http.off(event, routed);
    for (const listener of others) http.on(event, listener);
  };
}
