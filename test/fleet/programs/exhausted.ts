import { closeSync, openSync } from "node:fs";
import { isHost, MemoryJournal, run } from "headwater";
import Counters from "./counters.js";

/** Takes all descriptors, ends its host processes, and gives the descriptors back when no host could be started. */
if (!isHost()) {
  let warned = () => {};
  const refused = new Promise<null>((resolve) => {
    warned = () => resolve(null);
  });
  const service = await run(Counters, {
    hosts: 1,
    hostsAs: "processes",
    module: new URL("./counters.ts", import.meta.url).href,
    journal: new MemoryJournal(),
    onWarning: ({ code, message }) => {
      console.log(message);
      if (code === "HW-6030") warned();
    },
  });
  const counter = service.root.counters(1);
  await counter.add();
  const taken = allDescriptors();
  for (;;) {
    const pid = await Promise.race([counter.where(), refused]);
    if (pid === null) break;
    taken.push(...allDescriptors()); // those that were in use for a moment when the others were taken
    process.kill(pid, "SIGKILL");
  }
  const added = counter.add(); // waits for a host that does not exist
  for (const descriptor of taken) closeSync(descriptor);
  console.log("added", await added);
  await service.stop();
}

function allDescriptors(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    return taken;
  }
}
