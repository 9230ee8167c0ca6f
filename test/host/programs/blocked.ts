import { spawnSync } from "node:child_process";
import { Context, run } from "headwater";

/** Blocks its only thread, as it is told: in a loop, in a loop after an `await`, or in code that is not JavaScript. */
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
class Village extends Context {
  wells = this.children(Well);
}

const [, , how = "loop", ms = "0"] = process.argv;
const service = await run(Village, {
  slowEventMs: 100,
  onWarning: ({ message }) => console.log(message),
});
const alive = setInterval(() => {}, 1000);
const well = service.root.wells(7);
if (how === "loop") await well.loop(Number(ms));
else if (how === "sleep") await well.sleep();
else await well.loopLater(Number(ms));
console.log("done");
process.stdin.on("data", () => {
  clearInterval(alive);
  process.stdin.destroy();
});
