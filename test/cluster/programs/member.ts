/** A process of a cluster: `member.ts ADDRESS NAME [OPTIONS]`. It says in lines of JSON that it has joined, and ends with its input. */

import { type RunOptions, run } from "headwater";
import Bank from "./bank.js";

const [journal = "", name = "", options = "{}"] = process.argv.slice(2);
const module = new URL("./bank.ts", import.meta.url).href;
const service = await run(Bank, {
  journal,
  member: { name },
  module,
  ...(JSON.parse(options) as RunOptions),
});
console.log(JSON.stringify({ joined: name }));
process.stdin.resume();
process.stdin.on("end", () => void service.stop().then(() => process.exit(0)));
