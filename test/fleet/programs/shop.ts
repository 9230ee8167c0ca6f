import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Context, readonly } from "headwater";

class Parcel extends Context<number> {
  sent = 0;

  /** Says on which process it runs, and waits until there is such a file. */
  async send(gate: string, log: string) {
    appendFileSync(log, `${process.pid}\n`);
    while (!existsSync(gate)) await sleep(5);
    this.sent += 1;
    return this.sent;
  }

  /** Kills its own process, as the system does that is out of memory, until there is such a file. */
  burn(cure: string, log: string) {
    appendFileSync(log, `${process.pid}\n`);
    if (!existsSync(cure)) process.kill(process.pid, "SIGKILL");
    this.sent += 1;
    return this.sent;
  }

  @readonly count() {
    return this.sent;
  }
}

export default class Shop extends Context {
  parcels = this.children(Parcel);

  /** Starts an event that nobody waits for. */
  order(parcel: number, how: "send" | "burn", file: string, log: string) {
    this.event.start(this.parcels(parcel))[how](file, log);
  }
}
