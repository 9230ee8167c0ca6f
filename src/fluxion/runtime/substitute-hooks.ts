import type { LoadHook } from "node:module";

/** Runs in the thread of the module hooks. */

let files: ReadonlyMap<string, string> = new Map();

export function initialize(data: ReadonlyMap<string, string>): void {
  files = data;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const code = files.get(url.replace(/[?#].*$/, ""));
  // CommonJS modules have hooks of their own: they are loaded where they run.
  return code === undefined || loaded.format === "commonjs" ? loaded : { ...loaded, source: code };
};
