import { Context, run } from "headwater";

/** Sets timers and says so, or says in which order they went off, until the last one has. */
const [journal = "", act] = process.argv.slice(2);
const COUNT = 24;

class Alarms extends Context {
  rang: number[] = [];

  set(name: number) {
    // Every second one is due earlier than the one before it.
    this.event.after(name % 2 === 0 ? 300 : 200, this.ring, name);
  }
  ring(name: number) {
    this.rang.push(name);
    if (this.rang.length === COUNT) this.event.send("listener", this.rang);
  }
}

const service = await run(Alarms, { journal });
if (act === "set") {
  await Promise.all(Array.from({ length: COUNT }, (_, i) => service.root.set(i + 1)));
  process.stdout.write("set\n");
  await new Promise(() => setInterval(() => {}, 1e6)); // until it is killed
} else {
  service.client("listener", (rang) => {
    process.stdout.write(`${JSON.stringify(rang)}\n`);
    void service.stop();
  });
}
