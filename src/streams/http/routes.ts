import { definitionRoutes } from "./definition-routes.js";
import { pushRoutes } from "./push-routes.js";
import { readRoutes } from "./read-routes.js";
import { outputRoutes, sourceRoutes } from "./registered-routes.js";
import type { Route } from "./route.js";
import { shareRoutes } from "./share-routes.js";
import { tokenRoutes } from "./token-routes.js";

/** All that can be asked over HTTP. */
export const ROUTES: readonly Route[] = [
  ...definitionRoutes,
  ...pushRoutes,
  ...readRoutes,
  ...shareRoutes,
  ...outputRoutes,
  ...sourceRoutes,
  ...tokenRoutes,
];

/** A path with what it names, by the routes that have it. */
export interface Matched {
  readonly routes: readonly Route[];
  readonly names: readonly string[];
}

const PATTERNS = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, "([^/]+)")}$`),
}));

/** The routes at a path; none if there is nothing there. */
export function routesAt(path: string): Matched {
  const routes: Route[] = [];
  let names: readonly string[] = [];
  for (const { route, pattern } of PATTERNS) {
    const found = pattern.exec(path);
    if (found === null) continue;
    routes.push(route);
    names = found.slice(1);
  }
  return { routes, names };
}
