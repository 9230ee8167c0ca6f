/** The same counters for Restate, started by `bench/cluster/restate-servers.ts`: `restate-endpoint.js SDK PORT`. It ends with its parent. */

import { pathToFileURL } from "node:url";

const [, , sdk = "", port = ""] = process.argv;
const restate = await import(pathToFileURL(sdk).href);

const counter = restate.object({
  name: "Counter",
  handlers: {
    async bump(context, by) {
      const value = ((await context.get("value")) ?? 0) + 1 + by;
      context.set("value", value);
      return value;
    },
    value: restate.handlers.object.shared(async (context) => (await context.get("value")) ?? 0),
  },
});

await restate
  .endpoint()
  .bind(counter)
  .setLogger(() => {})
  .listen(Number(port));
process.once("disconnect", () => process.exit());
process.send?.("listening");
