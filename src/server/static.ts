import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { cannotStart } from "./limits.js";

/** Files of a folder, for the web page of a program: `headwater run --static DIR`. */

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
};

export class StaticFiles {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Refused with HW-4020 if it is not a folder. */
  static async of(folder: string): Promise<StaticFiles> {
    const found = await realpath(folder).catch(() => null);
    if (found === null || !(await stat(found)).isDirectory())
      throw cannotStart(`${JSON.stringify(folder)} is not a folder whose files could be served`);
    return new StaticFiles(found);
  }

  /** Sends the file that a GET or HEAD names; says whether there is one. A folder is its `index.html`. */
  async send(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const file = await this.#find(request.url ?? "/");
    if (file === null) return false;
    const { size, mtimeMs } = file;
    const etag = `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
    const headers = {
      "content-type": TYPES[extname(file.path).toLowerCase()] ?? "application/octet-stream",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      etag,
    };
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304, headers).end();
      return true;
    }
    response.writeHead(200, { ...headers, "content-length": size });
    if (request.method === "HEAD") response.end();
    else
      createReadStream(file.path)
        .on("error", () => response.destroy())
        .pipe(response);
    return true;
  }

  /** No path leads out of the folder, not by `..` and not by a link, and names that begin with a dot are not served. */
  async #find(url: string): Promise<{ path: string; size: number; mtimeMs: number } | null> {
    try {
      const path = decodeURIComponent(url.replace(/[?#].*$/s, ""));
      if (path.includes("\0") || path.split("/").some((part) => part.startsWith("."))) return null;
      const named = join(this.#folder, path);
      const isFolder = await stat(named).then((found) => found.isDirectory());
      const real = await realpath(isFolder ? join(named, "index.html") : named);
      if (!real.startsWith(`${this.#folder}${sep}`)) return null;
      const found = await stat(real);
      return found.isFile() ? { path: real, size: found.size, mtimeMs: found.mtimeMs } : null;
    } catch {
      return null; // it is not there, or its name is not well formed
    }
  }
}
