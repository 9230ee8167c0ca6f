import { HeadwaterError } from "../errors.js";

/** As much of a WebSocket as the client needs; that of browsers, of `ws`, and of newer Node all have it. */
export interface SocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: Uint8Array): void;
  close(code?: number, reason?: string): void;
}

export type SocketClass = new (url: string) => SocketLike;

/** The class that was given, or the platform's own, or in Node the one of the package `ws`. */
export async function socketClass(given: SocketClass | undefined): Promise<SocketClass> {
  if (given !== undefined) return given;
  const own = (globalThis as { WebSocket?: unknown }).WebSocket;
  if (typeof own === "function") return own as SocketClass;
  const { WebSocket } = await import("ws");
  return WebSocket as unknown as SocketClass;
}

const PROTOCOLS = new Map([
  ["http:", "ws:"],
  ["https:", "wss:"],
  ["ws:", "ws:"],
  ["wss:", "wss:"],
]);

/** Where the socket of a server is. */
export function socketUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const protocol = PROTOCOLS.get(url?.protocol ?? "");
  if (url === null || protocol === undefined) {
    throw new HeadwaterError(
      "HW-4018",
      "cannot connect: the address of a server begins with http:// or https://.",
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    // Addresses end up in logs and histories, so the message does not repeat it either.
    throw new HeadwaterError(
      "HW-4018",
      "cannot connect: the address has more than a host, a port and a path. Pass a token as an option, " +
        "`connect(url, { token })`; an address is no place for a secret.",
    );
  }
  return `${protocol}//${url.host}${url.pathname.replace(/\/$/, "")}/socket`;
}
