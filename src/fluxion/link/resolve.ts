import { existsSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const CONDITIONS = ["node", "import", "module-sync", "default"];

/** The file that `require` of a package means in a file. */
export function requiredFile(specifier: string, from: string): string {
  if (isBuiltin(specifier)) return specifier;
  try {
    return createRequire(from).resolve(specifier);
  } catch {
    return specifier;
  }
}

/** The address that `import` of a package means in a file: by its `exports` for imports, else as `require` finds it. */
export function importedAddress(specifier: string, from: string): string {
  if (isBuiltin(specifier)) return specifier;
  const file = specifier.startsWith(".") ? null : exported(specifier, from);
  const found = file ?? requiredFile(specifier, from);
  return found === specifier ? specifier : pathToFileURL(found).href;
}

function exported(specifier: string, from: string): string | null {
  const [, name = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  for (let at = dirname(from); ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    const manifest = join(folder, "package.json");
    if (existsSync(manifest)) {
      const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: unknown };
      const target = exports === undefined ? null : targetOf(exports, `.${rest}`);
      return target === null ? null : join(folder, target);
    }
    if (at === dirname(at)) return null;
  }
}

function targetOf(exports: unknown, subpath: string): string | null {
  if (typeof exports === "string" || Array.isArray(exports)) return subpath === "." ? chosen(exports) : null;
  if (exports === null || typeof exports !== "object") return null;
  const table = exports as Record<string, unknown>;
  if (!Object.keys(table).some((key) => key.startsWith("."))) return subpath === "." ? chosen(table) : null;
  if (Object.hasOwn(table, subpath)) return chosen(table[subpath]);
  for (const [key, target] of Object.entries(table)) {
    const [before = "", after] = key.split("*");
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue;
    const middle = subpath.slice(before.length, subpath.length - after.length);
    return chosen(target)?.replaceAll("*", middle) ?? null;
  }
  return null;
}

function chosen(target: unknown): string | null {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map(chosen).find((each) => each !== null) ?? null;
  if (target === null || typeof target !== "object") return null;
  for (const [condition, inner] of Object.entries(target)) {
    const found = CONDITIONS.includes(condition) ? chosen(inner) : null;
    if (found !== null) return found;
  }
  return null;
}
