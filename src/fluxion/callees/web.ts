import type { ReceiverKind } from "../pipeline.js";

/** What is known of Express, of http servers and of their requests and responses, as data. */

/** How a listener's parameters are called, by their number. */
export const HANDLER_ROLES: Readonly<Record<string, readonly (ReceiverKind | "data")[]>> = {
  handler: ["request", "response", "next"],
  errorHandler: ["data", "request", "response", "next"],
  parameter: ["request", "response", "next", "data", "data"],
};

/** What is in a request for as long as it is handled, and can be copied. */
export const REQUEST_CONTAINERS: ReadonlySet<string> = new Set([
  ..."query params body headers cookies signedCookies".split(" "),
]);
export const REQUEST_VALUES: ReadonlySet<string> = new Set([
  ..."url originalUrl baseUrl path method ip ips hostname host protocol secure xhr httpVersion".split(" "),
  ..."fresh stale subdomains rawHeaders httpVersionMajor httpVersionMinor".split(" "),
]);

/** What hangs on the running process and cannot be copied. */
export const REQUEST_BOUND: ReadonlySet<string> = new Set([
  ..."socket connection app res next route session client".split(" "),
]);

/** Questions to a request whose answer follows from it and from an argument that is written there. */
export const REQUEST_QUESTIONS: ReadonlySet<string> = new Set([
  ..."get header is accepts acceptsCharsets acceptsEncodings acceptsLanguages".split(" "),
]);

export const RESPONSE_CHAINING: ReadonlySet<string> = new Set([
  ..."status set header type contentType append cookie clearCookie location links vary attachment".split(" "),
  ..."send json jsonp sendStatus end setHeader writeHead".split(" "),
]);
export const RESPONSE_ENDING: ReadonlySet<string> = new Set([
  ..."redirect render sendFile download write removeHeader flushHeaders".split(" "),
]);
/** What is done with what it is given when it is called; others keep it, and look at it when the answer is sent. */
export const RESPONSE_AT_ONCE: ReadonlySet<string> = new Set([
  ..."json jsonp set header cookie clearCookie links writeHead status sendStatus redirect".split(" "),
]);
/** What writes into the options that it is given. */
export const RESPONSE_CHANGING: ReadonlySet<string> = new Set(["render", "sendFile", "download"]);
export const RESPONSE_WRITES: ReadonlySet<string> = new Set(["statusCode", "statusMessage"]);
export const RESPONSE_READS: ReadonlySet<string> = new Set([
  ..."headersSent statusCode statusMessage writableEnded finished locals".split(" "),
]);
export const RESPONSE_QUESTIONS: ReadonlySet<string> = new Set(["get", "getHeader", "hasHeader"]);

export const CONSOLE_CALLS: ReadonlySet<string> = new Set(["log", "info", "warn", "error", "debug"]);
