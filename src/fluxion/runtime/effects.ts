import type { ReceiverKind } from "./manifest.js";

/** What a stage did to one of its receivers, in the words of the program: `res.send(x)`, `req.body = x`, `next(x)`. */
export type RecordedEffect =
  | readonly [receiver: number, did: "call", name: string, args: readonly unknown[]]
  /** Called with objects, which are copied as they were at the call. */
  | readonly [receiver: number, did: "callWith", name: string, args: Uint8Array]
  | readonly [receiver: number, did: "set", name: string, value: unknown]
  | readonly [receiver: number, did: "apply", name: "", args: readonly unknown[]];

/** The methods that stages may call. Their results are used for nothing but further calls. */
export const METHODS: Readonly<Record<ReceiverKind, ReadonlySet<string>>> = {
  response: new Set([
    "addTrailers",
    "append",
    "appendHeader",
    "attachment",
    "clearCookie",
    "contentType",
    "cookie",
    "destroy",
    "download",
    "end",
    "flushHeaders",
    "header",
    "json",
    "jsonp",
    "links",
    "location",
    "redirect",
    "removeHeader",
    "render",
    "send",
    "sendFile",
    "sendStatus",
    "set",
    "setHeader",
    "status",
    "type",
    "vary",
    "write",
    "writeHead",
  ]),
  request: new Set(),
  next: new Set(),
  console: new Set([
    "log",
    "info",
    "debug",
    "warn",
    "error",
    "dir",
    "table",
    "trace",
    "group",
    "groupEnd",
    "count",
    "countReset",
  ]),
};

/** More than that is no list of effects any more but a loop gone wild. */
export const EFFECTS_MAX = 100_000;
