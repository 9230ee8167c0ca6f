export type Verb = "get" | "post";

interface Route {
  readonly verb: Verb;
  readonly path: string;
  readonly method: "render";
}

export const routes: Route[] = [];

/** Says which route a method of a controller answers. */
export function route(verb: Verb, path: string) {
  return (_handler: unknown, { name }: ClassMethodDecoratorContext): void => {
    routes.push({ verb, path, method: name as "render" });
  };
}
