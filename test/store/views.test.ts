import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { AnonymousContext, Context, outside, reads, run } from "headwater";
import { Gates } from "../gates.js";
import { until } from "../waits.js";
import { temporaryDirectory } from "./support.js";

const gates = new Gates();
let timesRead = 0;

const work = outside("work", () => gates.pass("work"));

class Ping extends AnonymousContext {
  ping() {}
}

/** Of a class of its own, since a class that is declared further down cannot be named in a decorator. */
class Valued extends Context {
  value = 0;
}

class Reader extends Context {
  saw: number[] = [];

  ask() {
    this.event.outside(work, null, this.read);
  }

  @reads(Valued) read() {
    timesRead += 1;
    this.saw.push(this.event.read(Valued).value);
  }

  giveUp() {
    this.downgrade();
  }

  seen() {
    return this.saw;
  }
}

class Top extends Valued {
  reader = this.child(Reader);
  ping = this.child(Ping);

  /** Others see the change before the event has ended. */
  async change() {
    this.value = 1;
    this.downgrade();
    await this.reader.giveUp();
    await gates.pass("change");
  }
}

test("an event that keeps its ticket over a crash does not see what the crash has undone", async (t) => {
  const [journal, crashed] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  const service = await run(Top, { journal });
  await service.root.reader.ask();
  const changing = service.root.change();
  await gates.reached("change");
  gates.open("work");
  await until(() => timesRead === 1);
  await service.root.ping.ping(); // commits before the result's event, which keeps its ticket from now on
  // What a process finds that begins after this one was killed.
  cpSync(journal, crashed, { recursive: true, filter: (path) => !basename(path).startsWith("owner.") });
  gates.open("change");
  await changing;
  assert.deepEqual(await service.root.reader.seen(), [1]);
  await service.stop();
  const next = await run(Top, { journal: crashed });
  assert.deepEqual(await next.root.reader.seen(), [0]);
  await next.stop();
});
