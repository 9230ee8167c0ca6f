/**
 * What a stage reads of a request is read before the stage runs, and once. That is the same only if reading does nothing: a getter that a
 * package has put there may do anything. Then the stage runs on the main loop: a symbol is an input that cannot be copied.
 */
const DOES_SOMETHING = Symbol("a getter");

/** Getters that Express and Node give to all requests and responses, which only look. */
const HARMLESS = new Set([
  ..."query protocol secure ip ips subdomains path host hostname fresh stale xhr".split(" "),
  ..."headers headersDistinct trailers trailersDistinct aborted complete destroyed".split(" "),
  ..."headersSent writableEnded finished statusCode closed errored".split(" "),
]);

export function read(receiver: object, key: string): unknown {
  for (let at: object | null = receiver; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const field = Object.getOwnPropertyDescriptor(at, key);
    if (field === undefined) continue;
    if ("value" in field) return field.value;
    if (at === receiver || !HARMLESS.has(key)) return DOES_SOMETHING;
    break;
  }
  return (receiver as Record<string, unknown>)[key];
}

/** A question to a request, unless a package has put its own method in the place of Express's. */
export function ask(receiver: object, method: string, ...args: string[]): unknown {
  if (Object.hasOwn(receiver, method)) return DOES_SOMETHING;
  const { [method]: asked } = receiver as Record<string, (...given: string[]) => unknown>;
  return asked?.apply(receiver, args);
}
