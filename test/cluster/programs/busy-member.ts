/**
 * A process of a cluster that makes transfers at its own gateway, several at a time: `busy-member.ts ADDRESS NAME [OPTIONS]`. It says in lines
 * of JSON that it has joined, and which transfers were acknowledged. It ends with its input.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type RunOptions, run } from "headwater";
import BusyBank from "./busy-bank.js";

const [ACCOUNTS, WORKERS, PAUSE_MS] = [10, 3, 40];
const [journal = "", name = "", options = "{}"] = process.argv.slice(2);
const { member, ...others } = JSON.parse(options) as RunOptions;
const module = new URL("./busy-bank.ts", import.meta.url).href;
const service = await run(BusyBank, { journal, member: { ...member, name }, module, ...others });
console.log(JSON.stringify({ joined: name }));

let [isOver, last] = [false, 0];
const workers = Array.from({ length: WORKERS }, async (_, worker) => {
  for (let i = 0; !isOver; i++) {
    const count = await service.root.once(`${name}/${worker}/${i}`, worker, (worker + i) % ACCOUNTS, "ada");
    last = Math.max(last, count);
    const before = last;
    const isStale = i % 4 === 0 && (await service.root.count()) < before;
    console.log(JSON.stringify({ worker, done: i, isStale }));
    await sleep(PAUSE_MS);
  }
});
process.stdin.resume();
process.stdin.on("end", () => {
  isOver = true;
  void Promise.all(workers)
    .then(() => service.stop())
    .then(() => process.exit(0));
});
