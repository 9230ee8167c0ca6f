/**
 * A command that makes and removes processes of a cluster: `maker.mjs DIRECTORY ADDRESS PAUSE_MS add|remove ID`. It makes one process for each id,
 * however often it is asked, and notes in `calls` when a call begins and ends. It fails while there is a file `broken`.
 */

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const BANK = fileURLToPath(new URL("./bank.ts", import.meta.url));
const [directory, address, pauseMs, action, id] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(0, "utf8"));
const note = (what) =>
  appendFileSync(join(directory, "calls"), `${JSON.stringify({ what, action, id, asked })}\n`);
note("begin");
await sleep(Number(pauseMs));
if (existsSync(join(directory, "broken"))) {
  console.error("no machine is free");
  note("end");
  process.exit(3);
}
const file = join(directory, id);
if (action === "add" && !existsSync(file)) {
  const args = [MAIN, "run", BANK, "--cluster", address, "--hosts", "1", "--processes"];
  const env = { ...process.env, HEADWATER_PROVISIONED: id };
  const child = spawn(process.execPath, args, { detached: true, stdio: "ignore", env });
  try {
    writeFileSync(file, String(child.pid));
  } catch {
    child.kill("SIGKILL"); // the test is over, and has removed the directory
  }
  child.unref();
}
if (action === "remove" && existsSync(file)) {
  try {
    process.kill(Number(readFileSync(file, "utf8")), "SIGTERM");
  } catch {} // it has ended
  rmSync(file);
}
note("end");
