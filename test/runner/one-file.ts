import { resolve } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { failWaits } from "../waits.js";
import { cpuMsOf } from "./processes.js";
import { tell } from "./reporter.js";

/**
 * The process of one test file. When the runner is gone, its end of standard input closes, and the process ends with all of its
 * session's. The runner writes there when it sees that nothing moves any more.
 */
process.stdin.on("data", () => failWaits("nothing moves any more."));
process.stdin.on("end", () => process.kill(-process.pid, "SIGKILL"));
process.stdin.unref();
process.on("exit", () => tell({ kind: "ended", cpuMs: cpuMsOf(process.pid) }));

/** Node ends a process in which nothing can happen any more, whatever its tests still wait for: waits by name must fail before. */
const LOOK_MS = 500;
const QUIET_LOOKS_MAX = 3;
/** The timer below, and standard input and output. */
const OWN: Readonly<Record<string, number>> = { Timeout: 1, PipeWrap: 3, TTYWrap: 3 };
let quietLooks = 0;
const look = setInterval(() => {
  quietLooks = isQuiet() ? quietLooks + 1 : 0;
  if (quietLooks < QUIET_LOOKS_MAX) return;
  quietLooks = 0;
  if (failWaits("nothing is left that could happen.").length === 0) clearInterval(look);
}, LOOK_MS);
after(() => clearInterval(look));

function isQuiet(): boolean {
  const alive = process.getActiveResourcesInfo();
  return alive.every((name) => alive.filter((each) => each === name).length <= (OWN[name] ?? 0));
}

const [, , file = ""] = process.argv;
await import(pathToFileURL(resolve(file)).href);
