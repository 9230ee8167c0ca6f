/** A process of a cluster: `member.ts ADDRESS NAME`. It says in lines of JSON that it has joined, and ends with its input. */

import { run } from "headwater";
import Bank from "./bank.js";

const [journal = "", name = ""] = process.argv.slice(2);
const service = await run(Bank, { journal, member: { name } });
console.log(JSON.stringify({ joined: name }));
process.stdin.resume();
process.stdin.on("end", () => void service.stop().then(() => process.exit(0)));
