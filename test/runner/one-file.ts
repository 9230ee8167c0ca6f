import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The process of one test file. When the runner is gone, its end of standard input closes, and the process ends with all of its session's. */
process.stdin.on("end", () => process.kill(-process.pid, "SIGKILL"));
process.stdin.resume();
process.stdin.unref();

const [, , file = ""] = process.argv;
await import(pathToFileURL(resolve(file)).href);
