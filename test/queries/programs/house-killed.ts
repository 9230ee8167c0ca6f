import { run } from "headwater";
import { Random } from "#src/random.js";
import { ask } from "../checks.js";
import House from "./house.js";

/** Asks for random things all the time, and says what is there for certain, until it is killed. */
const [journal = "", name = ""] = process.argv.slice(2);
const service = await run(House, { journal, durability: "written" });
const random = new Random(name.length);

async function client(number: number): Promise<never> {
  for (let i = 0; ; i++) {
    const ids = await ask(service, random, `${name}.${number}.${i}`);
    for (const id of ids) process.stdout.write(`${id}\n`);
  }
}

await Promise.all([1, 2, 3].map(client));
