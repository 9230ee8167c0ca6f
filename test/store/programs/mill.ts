import { appendFileSync, existsSync } from "node:fs";
import { Context, parkedOf, run } from "headwater";

/** A mill on one host whose started event kills the process, until there is such a file. */
export default class Mill extends Context {
  ground = 0;
  start(cure: string, log: string) {
    this.event.start(this.above(Mill)).grind(1, cure, "");
    this.event.start(this.above(Mill)).grind(2, cure, log);
    this.event.start(this.above(Mill)).grind(3, cure, "");
  }
  grind(by: number, cure: string, log: string) {
    if (log !== "" && !existsSync(cure)) {
      appendFileSync(log, "x");
      process.kill(process.pid, "SIGKILL");
    }
    this.ground += by;
    return this.ground;
  }
  look() {
    return this.ground;
  }
}

const [, , journal = "", cure = "", log = ""] = process.argv;
if (log !== "") {
  const service = await run(Mill, { journal, onError: () => {} });
  if (!existsSync(log)) await service.root.start(cure, log);
  await service.idle();
  console.log(JSON.stringify({ ground: await service.root.look(), parked: parkedOf(service).list() }));
  await service.stop();
}
