import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

/** `headwater serve --cluster`, in a process of its own. */
export async function served(
  t: TestContext,
  journal: string,
  name: string,
  folder: string,
  more: readonly string[] = [],
) {
  const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
  const args = [
    "serve",
    "--cluster",
    journal,
    "--name",
    name,
    "--port",
    "0",
    "--journal",
    folder,
    "--json",
    ...more,
  ];
  const child: ChildProcess = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, token } = JSON.parse(line) as { url: string; token: string };
    return { child, url, token };
  }
  throw new Error("it ended");
}
