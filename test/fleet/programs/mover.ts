import { hostsOf, run } from "headwater";
import Store from "./store.js";

/** Writes to a shelf, says so when it was acknowledged, and moves the shelf to and fro all the time, until it is killed. */
const [journal = "", name = ""] = process.argv.slice(2);
const module = new URL("./store.ts", import.meta.url).href;
const service = await run(Store, { hosts: 2, module, journal });
const hosts = hostsOf(service);
const shelf = service.root.shelves(1);
await shelf.fill(0, 300, 1000);

async function move(): Promise<never> {
  for (;;) await hosts.move(shelf, 1 - hosts.where(shelf));
}
async function write(): Promise<never> {
  for (let i = 1; ; i++) {
    await shelf.put(`item ${i % 300}`, name.repeat(1000));
    await shelf.add(`${name} ${i}`);
    process.stdout.write(`${name} ${i}\n`);
  }
}
await Promise.all([move(), write()]);
