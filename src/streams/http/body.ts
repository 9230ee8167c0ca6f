import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { createGunzip, type Gunzip } from "node:zlib";
import { HeadwaterError } from "../../errors.js";

/** The body of a request, unpacked if it came as gzip. The limit holds for what it is unpacked. */
export async function bodyOf(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity" && encoding !== "gzip")
    throw new HeadwaterError("HW-4009", "the body is encoded with something other than gzip.");
  const source = encoding === "gzip" ? unpacked(request) : request;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      const piece = chunk as Buffer;
      bytes += piece.length;
      if (bytes > bytesMax)
        throw new HeadwaterError(
          "HW-4006",
          `the body is larger than ${bytesMax} bytes. Send smaller batches.`,
        );
      chunks.push(piece);
    }
  } catch (error) {
    request.unpipe();
    if (error instanceof HeadwaterError) throw error;
    throw new HeadwaterError("HW-4005", "the body ended early, or is not gzip.", { cause: error });
  }
  return Buffer.concat(chunks);
}

/** A pipe does not end when its source breaks off, and who reads from it would wait for ever. */
function unpacked(request: IncomingMessage): Gunzip {
  const gunzip = createGunzip();
  request.once("close", () => {
    if (!request.complete) gunzip.destroy(new Error("the connection was lost"));
  });
  return request.pipe(gunzip);
}

/** A JSON object from a body. It may have the given fields and no others. */
export function objectOf(body: Buffer, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isUtf8(body)) throw new HeadwaterError("HW-4005", "the body is not UTF-8.");
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HeadwaterError("HW-4005", `the body is not JSON: ${why}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new HeadwaterError("HW-4005", "the body must be a JSON object.");
  checkNames(Object.keys(value), fields, "the body");
  return { ...value };
}

/** A misspelt name is refused: what it should have said would be left out in silence. */
export function checkNames(given: Iterable<string>, known: readonly string[], where: string): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const may = known.length === 0 ? "nothing" : known.join(", ");
    throw new HeadwaterError(
      "HW-4005",
      `${where} has ${JSON.stringify(name.slice(0, 80))}, and takes ${may}.`,
    );
  }
}

/** An object within a body. */
export function objectIn(
  value: unknown,
  name: string,
  fields: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new HeadwaterError("HW-4005", `"${name}" must be an object.`);
  checkNames(Object.keys(value), fields, `"${name}"`);
  return { ...value };
}

export function flagOf(value: unknown, name: string): boolean {
  if (typeof value === "boolean") return value;
  throw new HeadwaterError("HW-4005", `"${name}" must be true or false.`);
}

export function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw new HeadwaterError("HW-4005", `"${name}" must be a text.`);
}

/** An object whose values are texts. */
export function textsOf(value: unknown, name: string): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new HeadwaterError("HW-4005", `"${name}" must be an object of texts.`);
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, textOf(text, `${name}.${key}`)]),
  );
}
