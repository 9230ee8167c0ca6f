import { fileURLToPath } from "node:url";

/** Hooks of Node's module loader: what a copied module imports from its own project is copied along with it. */

const QUERY = /\?(headwater-copy=\d+)$/;

let own = "";

export function initialize(data: { readonly own: string }): void {
  own = data.own;
}

interface Resolved {
  readonly url: string;
}

export async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const [, copy] = QUERY.exec(context.parentURL ?? "") ?? [];
  const resolved = await next(specifier, context);
  if (copy === undefined || !isOfProject(resolved.url)) return resolved;
  return { ...resolved, url: `${resolved.url}?${copy}` };
}

function isOfProject(url: string): boolean {
  if (!url.startsWith("file:") || url.includes("?")) return false;
  const path = fileURLToPath(url);
  return !path.includes("/node_modules/") && !path.startsWith(own) && !path.endsWith(".json");
}
