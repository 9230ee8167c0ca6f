import { spawn } from "node:child_process";
import { dataFile } from "./directory.js";
import { headerOf } from "./header.js";
import { damaged } from "./problems.js";

const SCRIPT = `import(process.argv[1]).then(({ readAll }) => readAll(process.argv[2]));`;

/**
 * Reads all of a journal in a process of its own, because lmdb does not survive reading some kinds of damage.
 * Resolves to what is wrong, or to null.
 */
export function probe(directory: string): Promise<string | null> {
  const survey = new URL("./survey.js", import.meta.url).href;
  const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT, survey, directory], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal !== null) resolve(`data.mdb cannot be read (a process that tried was ended by ${signal})`);
      else if (code === 0) resolve(null);
      else resolve(`data.mdb cannot be read (${/^\w*Error: .*$/m.exec(said)?.[0] ?? said.trim()})`);
    });
  });
}

/**
 * A data file may rightly end before its last page (see `header.ts`), but one that was cut off looks the same, and
 * reading it would end the process. So another process reads all of it first. This is rare: after a close, the file
 * has its full length.
 */
export async function checkLength(path: string, onWarning?: (text: string) => void): Promise<void> {
  const header = headerOf(dataFile(path));
  if (header.kind !== "fine" || header.bytes >= header.bytesMax) return;
  onWarning?.(`${dataFile(path)} is shorter than it might be; checking it.`);
  const trouble = await probe(path);
  if (trouble !== null) throw damaged(path, trouble);
}
