import { readFileSync } from "node:fs";
import { register } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContextClass } from "../model/context.js";
import { declareAgain } from "../model/outside.js";
import { registerAgain } from "../state/registered.js";
import { sourceOf } from "./source-of.js";

type Roots = Readonly<Record<string, ContextClass>>;

/** Classes for the processes and hosts of a run. Real hosts load the program each for itself, and so share no module-level variable. */
export interface Copies {
  /** Loads what one run needs; each call of the result is another process or host. */
  forRun(hosts: boolean): Promise<() => Roots>;
}

/** Lives of hosts and processes beyond that get the last copy again. */
const COPIES = { alone: 2, hosts: 7 };

let isHooked = false;
let loads = 0;

/** Copies of a program, where its file can be loaded again; if not, all hosts share its classes. */
export async function copiesOf(roots: Roots): Promise<Copies> {
  const sources = Object.entries(roots).map(([name, cls]) => ({ name, cls, file: fileOf(cls) }));
  const first = await loadCopies(sources, 1).catch(() => null);
  if (first === null) return { forRun: async () => () => roots };
  return {
    forRun: async (hosts) => {
      const loaded = (await loadCopies(sources, hosts ? COPIES.hosts : COPIES.alone)) ?? [];
      let next = 0;
      return () => loaded[Math.min(next++, loaded.length - 1)] ?? roots;
    },
  };
}

interface Source {
  readonly name: string;
  readonly cls: ContextClass;
  readonly file: string | null;
}

/** So many copies; null if there cannot be any. */
async function loadCopies(sources: readonly Source[], count: number): Promise<Roots[] | null> {
  if (sources.some(({ file }) => file === null)) return null;
  hook();
  const { result, hasRegistered } = await registerAgain(() =>
    declareAgain(() => Promise.all(Array.from({ length: count }, () => loadCopy(sources)))),
  );
  // Instances of registered classes go from host to host, and would be those of another copy there.
  return hasRegistered || result.includes(null) ? null : (result as Roots[]);
}

async function loadCopy(sources: readonly Source[]): Promise<Roots | null> {
  loads += 1;
  const query = `?headwater-copy=${loads}`;
  const classes: Record<string, ContextClass> = {};
  for (const { name, cls, file } of sources) {
    const module = (await import(`${file}${query}`)) as Record<string, unknown>;
    const copy = Object.values(module).find((each) => typeof each === "function" && each.name === cls.name);
    if (copy === undefined) return null;
    classes[name] = copy as ContextClass;
  }
  return classes;
}

/** The file of a class, unless it is the file of a test, which would be run again. */
function fileOf(cls: ContextClass): string | null {
  const url = sourceOf(cls);
  if (url === null) return null;
  try {
    return readFileSync(fileURLToPath(url), "utf8").includes("headwater/test") ? null : url;
  } catch {
    return null;
  }
}

/** Lets a copy of a module import copies of the modules beside it. */
function hook(): void {
  if (isHooked) return;
  isHooked = true;
  const own = dirname(dirname(fileURLToPath(import.meta.url)));
  register("./copy-hooks.js", { parentURL: import.meta.url, data: { own } });
}
