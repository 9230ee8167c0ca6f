import { join } from "node:path";
import { importPackage } from "../../packages.js";
import { notAllowed } from "./addresses.js";
import type { OutputDefinition, OutputPolicy } from "./definition.js";
import { FileTarget } from "./file-target.js";
import { HttpTarget } from "./http-target.js";
import { StdoutTarget } from "./stdout-target.js";
import type { OutputTarget } from "./target.js";
import { TcpTarget } from "./tcp-target.js";

/** The target that a definition names, as far as it is still allowed. */
export async function openTarget(
  definition: OutputDefinition,
  policy: OutputPolicy,
  tenant: string,
): Promise<OutputTarget> {
  const { target } = definition;
  if (target === "stdout:") {
    if (policy.stdout === null) throw notAllowed("stdout");
    return new StdoutTarget(policy.stdout);
  }
  if (target.startsWith("file:")) {
    if (policy.directory === null) throw notAllowed("a file");
    const path = join(policy.directory, tenant, target.slice("file:".length));
    return new FileTarget(path, path.endsWith(".csv") ? "csv" : "ndjson");
  }
  if (/^https?:/.test(target)) return new HttpTarget(definition, policy);
  if (target.startsWith("tcp:")) return new TcpTarget(definition, policy);
  const { NatsTarget } = await importPackage(() => import("./nats-target.js"));
  return new NatsTarget(definition, policy);
}
