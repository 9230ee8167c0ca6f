import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type Code, HeadwaterError, mayRetry } from "../errors.js";
import { failureForm } from "../protocol/index.js";
import { formJson } from "./json.js";

/** Errors that say more about the request than that it may be retried (503), or that the server is at fault (500). */
const STATUS: Readonly<Partial<Record<Code, number>>> = {
  "HW-1006": 400,
  "HW-1015": 400,
  "HW-4004": 404,
  "HW-4005": 400,
  "HW-4006": 413,
  "HW-4007": 400,
  "HW-4008": 408,
  "HW-4009": 415,
  "HW-4010": 401,
  "HW-4011": 401,
  "HW-4012": 403,
  "HW-4014": 400,
  "HW-4019": 422,
  "HW-4031": 410,
  "HW-4041": 401,
  "HW-5101": 400,
  "HW-5102": 400,
  "HW-5103": 400,
  "HW-5104": 400,
  "HW-5301": 400,
  "HW-5302": 400,
  "HW-5401": 404,
  "HW-5402": 409,
  "HW-5403": 400,
  "HW-5404": 409,
  "HW-5405": 410,
  "HW-5406": 409,
  "HW-5407": 409,
  "HW-5409": 403,
  "HW-5410": 400,
  "HW-5411": 409,
  "HW-5451": 400,
  "HW-5452": 400,
  "HW-5453": 400,
  "HW-5501": 400,
  "HW-5502": 403,
  "HW-5503": 404,
  "HW-5511": 422,
};

const AT_FAULT = 500;
const UNAVAILABLE = 503;
/** An event that threw was understood and refused by the application. */
const APPLICATION_REFUSED = 422;

export function statusOf(error: unknown): number {
  if (!(error instanceof HeadwaterError)) return APPLICATION_REFUSED;
  return STATUS[error.code] ?? (mayRetry(error) ? UNAVAILABLE : AT_FAULT);
}

export function errorJson(error: unknown): string {
  return formJson({ error: failureForm(error) });
}

const FIXED_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

export function respond(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...FIXED_HEADERS, "content-length": Buffer.byteLength(json), ...headers });
  response.end(json); // a text leaves with the headers in one piece; bytes would be another
}

/** Refuses a request whose body may still be on its way, which is read and thrown away up to a point. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  discardBytes: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const status = statusOf(error);
  const more =
    status === 401 ? { "www-authenticate": "Bearer" } : mayRetry(error) ? { "retry-after": "1" } : {};
  respond(response, status, errorJson(error), { ...headers, ...more });
  let left = discardBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  });
}

/** The same on a connection that carries no request that Node could make sense of, or that wants to be a socket. */
export function refuseRaw(socket: Duplex, error: HeadwaterError, status = statusOf(error)): void {
  socket.on("error", () => {}); // the caller may be gone by now
  if (!socket.writable) return void socket.destroy();
  const body = errorJson(error);
  const headers = Object.entries({
    ...FIXED_HEADERS,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const cutOff = setTimeout(() => socket.destroy(), LINGER_MS);
  cutOff.unref();
  socket.once("close", () => clearTimeout(cutOff));
}

/** Enough for the caller to read the reply. */
const LINGER_MS = 1000;
