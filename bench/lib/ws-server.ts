import { expose, run, serve } from "headwater";
import { Root } from "./headwater.js";

/** The counters of `micro` behind a server. It says its address to the process that started it, and ends with it. */
export const api = expose(Root, {
  bump: (root, key: number, work: number) => root.counters(key).bump(work),
  value: (root, key: number) => root.counters(key).value(),
});

if (process.send !== undefined) {
  const [, , journal] = process.argv;
  const service = journal ? await run(Root, { journal }) : await run(Root);
  const server = await serve(service, api);
  process.once("disconnect", async () => {
    await server.close();
    await service.stop();
  });
  process.send(server.url);
}
