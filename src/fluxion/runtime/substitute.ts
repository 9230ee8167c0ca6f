import fs from "node:fs";
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * The module loaders find other code in some files than stands there. Any other reader of those files, and be it the
 * program itself, finds what stands there.
 */

/** ES modules are loaded by hooks in a thread of their own. They see what is read before others transform it. */
export function substituteImported(files: ReadonlyMap<string, string>): void {
  const byUrl = new Map([...files].map(([path, code]) => [pathToFileURL(path).href, code]));
  register(new URL("./substitute-hooks.js", import.meta.url), { data: byUrl });
}

type Loader = NonNullable<NodeJS.RequireExtensions[string]>;

/**
 * A loader of CommonJS modules reads the file first, so what it reads first is exchanged, and nothing after that. Call it
 * when all loaders are there.
 */
export function substituteRequired(files: ReadonlyMap<string, string>): void {
  const { extensions } = createRequire(import.meta.url);
  for (const [ending, loader] of Object.entries(extensions) as [string, Loader][]) {
    if (ending === ".json" || ending === ".node") continue;
    extensions[ending] = (module, path) => {
      const code = files.get(path);
      if (code === undefined) return loader(module, path);
      const { readFileSync } = fs;
      const readOnce = (read: unknown, ...rest: unknown[]) => {
        if (read !== path) return (readFileSync as (...args: unknown[]) => unknown)(read, ...rest);
        fs.readFileSync = readFileSync;
        return code;
      };
      fs.readFileSync = readOnce as typeof readFileSync;
      try {
        return loader(module, path);
      } finally {
        if ((fs.readFileSync as unknown) === readOnce) fs.readFileSync = readFileSync;
      }
    };
  }
}
