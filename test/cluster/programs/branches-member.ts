/** A process of a cluster with several logs: `branches-member.ts ADDRESS NAME`. It says when it has joined, and ends with its input. */

import { run } from "headwater";
import branches, { LOGS } from "./branches.js";

const [journal = "", name = ""] = process.argv.slice(2);
const service = await run(branches, { journal, logs: LOGS, member: { name } });
console.log(JSON.stringify({ joined: name }));
process.stdin.resume();
process.stdin.on("end", () => void service.stop().then(() => process.exit(0)));
