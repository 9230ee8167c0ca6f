import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HeadwaterError } from "./errors.js";

/**
 * The packages that not every program needs are optional peer dependencies: npm installs them only when a project names them. They are
 * loaded here, when something needs them. An error names what is missing, along with all that the same part of Headwater needs.
 */
const PARTS = {
  SQL: ["libpg-query", "re2js"],
  YAML: ["yaml"],
  "reading the code of programs": ["oxc-parser", "@typescript-eslint/scope-manager", "magic-string"],
  NATS: ["@nats-io/transport-node", "@nats-io/jetstream"],
} as const;

export type PackagePart = keyof typeof PARTS;
type PackageName = (typeof PARTS)[PackagePart][number];

const own = createRequire(import.meta.url);

/** A CommonJS package, at once. `Package` is its type: `typeof import("yaml")`. */
export function requirePackage<Package>(name: PackageName): Package {
  try {
    return own(name) as Package;
  } catch (error) {
    throw explained(error);
  }
}

/** A package, or a file of this one that imports some. */
export async function importPackage<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    throw explained(error);
  }
}

/** Throws HW-2005 unless all packages of a part are there: for code that would load some of them much later. */
export function checkPart(part: PackagePart): void {
  for (const name of PARTS[part]) {
    try {
      own.resolve(name);
    } catch (error) {
      throw explained(error);
    }
  }
}

/** HW-2005 for an error that says that one of these packages is not there; another error is returned unchanged. */
function explained(error: unknown): unknown {
  const { code = "", message = "" } = error as NodeJS.ErrnoException;
  const [, name] = /^Cannot find (?:package|module) '([^']+)'/.exec(message) ?? [];
  const part = (Object.keys(PARTS) as PackagePart[]).find((each) => PARTS[each].some((one) => one === name));
  if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(code) || part === undefined) return error;
  return new HeadwaterError(
    "HW-2005",
    `${name} is not installed, and ${part} needs it. Install it beside headwater: npm install ${wordsFor(part)}`,
  );
}

/** By name, the versions of a part's packages that go with this one: what a package.json says. */
export function versionsOf(part: PackagePart): Record<string, string> {
  const file = new URL("../package.json", import.meta.url);
  const { peerDependencies } = JSON.parse(readFileSync(file, "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  return Object.fromEntries(PARTS[part].map((name) => [name, peerDependencies[name] ?? "*"]));
}

function wordsFor(part: PackagePart): string {
  const words = Object.entries(versionsOf(part)).map(([name, version]) => `${name}@${version}`);
  return words.map((word) => (/[<>| ]/.test(word) ? `"${word}"` : word)).join(" ");
}
