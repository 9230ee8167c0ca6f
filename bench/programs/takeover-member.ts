/** A process of a cluster with many contexts and timers, started by `bench/cluster/takeover.ts`: `takeover-member.ts ADDRESS NAME`. */

import { run } from "headwater";
import { City } from "./city.js";

const [, , journal = "", name = ""] = process.argv;
const send = process.send?.bind(process);
if (send !== undefined) {
  await run(City, { journal, member: { name } });
  process.once("disconnect", () => process.exit());
  send({ n: 0, value: "" });
}
