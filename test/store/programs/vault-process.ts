import { HeadwaterError, run } from "headwater";
import Vault from "./vault.js";

/** A vault as a process of its own: `vault-process.ts JOURNAL DURABILITY HOSTS`. It is asked by messages. */

type SafeMethod = "hold" | "put" | "push" | "startPut" | "take" | "get" | "digest" | "all" | "where";

export type Asked =
  | { readonly method: SafeMethod; readonly safe: number; readonly args: readonly [string?, Uint8Array?] }
  | { readonly method: "move"; readonly from: number; readonly to: number; readonly key: string };

export interface Request {
  readonly id: string;
  readonly asked: Asked;
}

export interface Reply {
  readonly id: string;
  readonly value?: unknown;
  /** The code of the error, or its text if it has none. */
  readonly error?: string;
}

const [journal = "", durability, hosts = "1"] = process.argv.slice(2);
const module = new URL("./vault.js", import.meta.url).href;
const service = await run(Vault, {
  journal,
  durability: durability === "written" ? "written" : "synced",
  ...(hosts === "1" ? {} : { hosts: Number(hosts), hostsAs: "processes", module }),
});

function ask({ id, asked }: Request): Promise<unknown> {
  const { root } = service.as({ request: id });
  if (asked.method === "move") return root.move(asked.from, asked.to, asked.key);
  const safe = root.safes(asked.safe) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const method = safe[asked.method];
  if (method === undefined) throw new Error(`a safe has no method ${asked.method}`);
  return method.call(safe, ...asked.args);
}

process.on("message", (request: Request) => {
  const { id } = request;
  const reply = (told: Omit<Reply, "id">) => void process.send?.({ id, ...told });
  ask(request).then(
    (value) => reply({ value }),
    (error: unknown) => reply({ error: error instanceof HeadwaterError ? error.code : String(error) }),
  );
});
process.on("disconnect", () => process.exit(1)); // whoever asks is gone
process.send?.("serving");
