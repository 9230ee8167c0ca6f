import { hostsOf, run } from "headwater";
import Ledgers from "./ledgers.js";

/** Enters something, says so when it was acknowledged, and moves the ledger to and fro all the time, until it is killed. */
const [journal = "", name = ""] = process.argv.slice(2);
const module = new URL("./ledgers.ts", import.meta.url).href;
const service = await run(Ledgers, { hosts: 2, module, journal });
const hosts = hostsOf(service);
const ledger = service.root.ledgers(1);

async function move(): Promise<never> {
  for (;;) await hosts.move(ledger, 1 - hosts.where(ledger));
}
async function write(): Promise<never> {
  for (let i = 1; ; i++) {
    const entry = `k${i % 5}:${i}:${name}${i}`;
    await ledger.enter(entry);
    process.stdout.write(`${entry}\n`);
  }
}
await Promise.all([move(), write()]);
