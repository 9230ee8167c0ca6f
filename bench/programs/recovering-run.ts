import { isHost, run } from "headwater";
import Office from "./recovering.js";

/** Runs the program beside it, as the arguments say, and says when the first answer has come. */
const [how = "memory", journal] = process.argv.slice(2);
if (!isHost()) {
  const module = new URL("./recovering.ts", import.meta.url).href;
  const hosts = how === "threads" || how === "processes" ? 2 : 1;
  const service = await run(Office, {
    ...(journal === undefined ? {} : { journal }),
    hosts,
    hostsAs: how === "processes" ? "processes" : "threads",
    module,
  });
  await service.root.desks(0).add();
  process.stdout.write("answered\n");
  await service.stop();
}
