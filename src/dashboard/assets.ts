import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname } from "node:path";

/** The built page, from beside this file in the package. */
const FOLDER = new URL("../page/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing is loaded from elsewhere, no script stands in a text, and no other page may frame this one. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Names that the build gives its files: no path leads out of the folder. */
const NAME = /^(?:assets\/)?[\w.-]+\.(?:html|js|css|svg)$/;

/** Sends a file of the page; says whether there is one. */
export async function sendAsset(response: ServerResponse, path: string, isHead: boolean): Promise<boolean> {
  const name = path === "" ? "index.html" : path;
  if (!NAME.test(name)) return false;
  const body = await readFile(new URL(name, FOLDER)).catch(() => null);
  if (body === null) return false;
  response.writeHead(200, {
    "content-type": TYPES[extname(name)] ?? "application/octet-stream",
    "content-length": body.length,
    // The names of assets change with their content.
    "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  response.end(isHead ? undefined : body);
  return true;
}
