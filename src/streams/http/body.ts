import type { IncomingMessage } from "node:http";
import { createGunzip, type Gunzip } from "node:zlib";
import { HeadwaterError } from "../../errors.js";

/** The body of a request, unpacked if it came as gzip. The limit holds for what it is unpacked. */
export async function bodyOf(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity" && encoding !== "gzip")
    throw new HeadwaterError("HW-4009", "the body is encoded with something other than gzip.");
  const source: IncomingMessage | Gunzip = encoding === "gzip" ? request.pipe(createGunzip()) : request;
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

/** A JSON object from a body. */
export function objectOf(body: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HeadwaterError("HW-4005", `the body is not JSON: ${why}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new HeadwaterError("HW-4005", "the body must be a JSON object.");
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
