import { spawnSync } from "node:child_process";
import { Context, isHost, run } from "headwater";

/**
 * Blocks its thread, as it is told: in a loop, in a loop after an `await`, or in code that is not JavaScript; or, on two hosts, in
 * code of the program outside of events. With the name of a journal it ends when a supervisor could replace it.
 */
class Well extends Context<number> {
  loop(ms: number) {
    const end = performance.now() + ms;
    while (performance.now() < end);
  }
  async loopLater(ms: number) {
    await null;
    this.loop(ms);
  }
  /** Until standard input closes, which is that of the process it waits for. */
  sleep() {
    spawnSync(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["inherit", "ignore", "ignore"] });
  }
}
export default class Village extends Context {
  wells = this.children(Well);
}

/** Keeps this thread busy, as a function of an API may. */
function spin() {
  for (;;);
}

async function main() {
  const [, , how = "loop", ms = "0", journal] = process.argv;
  let isReported = false;
  const service = await run(Village, {
    slowEventMs: 100,
    onWarning: ({ message }) => {
      isReported ||= message.includes(".loop(…) has kept the thread");
      console.log(message);
    },
    ...(journal === undefined ? {} : { journal, hostTimeoutMs: 300 }),
    ...(how === "head" ? { hosts: 2, module: import.meta.url } : {}),
  });
  const alive = setInterval(() => {}, 1000);
  const well = service.root.wells(7);
  if (how === "loop") {
    do {
      await well.loop(Number(ms));
      await new Promise((resolve) => setTimeout(resolve, 50)); // for what the watching thread has to say
    } while (!isReported); // on a busy machine that thread may come too late to see the first loop
  } else if (how === "sleep") await well.sleep();
  else if (how === "head") setImmediate(spin);
  else await well.loopLater(Number(ms));
  console.log("done");
  process.stdin.on("data", () => {
    clearInterval(alive);
    process.stdin.destroy();
  });
}

if (!isHost()) await main();
