import assert from "node:assert/strict";
import { test } from "node:test";
import { Context } from "headwater";
import { encode } from "#src/state/codec.js";
import { Clockwork, CountingJournal, start } from "./clockwork.js";

let rung: number[] = [];

class Alarm extends Context<number> {
  count = 0;
  ring(name: number) {
    this.count++;
    rung.push(name);
  }
  set(name: number, ms: number) {
    return this.event.after(ms, this.ring, name);
  }
  cancel(id: string) {
    this.event.cancel(id);
  }
}
class Alarms extends Context {
  alarms = this.children(Alarm);
}

const DAY_MS = 1_700_000_000_000;

/** A journal as version 0.5 wrote it: timers by their names, and named in the main values of their contexts. */
function olderJournal(): CountingJournal {
  const journal = new CountingJournal();
  const timer = (ticket: number, alarm: number, due: number, ownTicket = 0) => {
    const id = `Root:${ticket}:1@.alarms(${alarm})`;
    const event = {
      path: [{ field: "alarms", key: alarm }],
      method: "ring",
      args: [ticket],
      origin: { kind: "timer", id },
      time: due,
      ticket: ownTicket,
      seen: [],
    };
    return { key: `t/Root/${id}`, value: encode(event) };
  };
  const context = (alarm: number, names: readonly string[]) => {
    const value = encode([1, ["count"], 7, [names, []]]);
    return { key: `c/Root/Alarms.alarms(${alarm})`, value };
  };
  const name = (ticket: number, alarm: number) => `Root:${ticket}:1@.alarms(${alarm})`;
  journal.append(
    [
      context(
        1,
        [2, 3, 10, 11].map((ticket) => name(ticket, 1)),
      ),
      context(2, [name(12, 2)]),
      timer(2, 1, DAY_MS + 2000),
      timer(3, 1, DAY_MS + 9000),
      timer(10, 1, DAY_MS + 1000),
      timer(11, 1, DAY_MS - 5, 20),
      timer(12, 2, DAY_MS + 1000),
      { key: "n/Root", value: encode([1_000_000, DAY_MS]) },
    ],
    () => {},
  );
  return journal;
}

test("timers in a journal of an earlier version go off, can be cancelled, and are kept in the new form", async () => {
  rung = [];
  const [clockwork, journal] = [new Clockwork(), olderJournal()];
  const first = start(Alarms, clockwork, journal);
  await clockwork.pass(1500, first.program);
  assert.deepEqual(rung, [11, 10, 12]);
  await first.root.alarms(1).cancel("Root:2:1@.alarms(1)");
  await first.root.alarms(2).set(100, 5000);
  await first.program.stop(0);
  assert.deepEqual([...journal.range("t/")], []);
  clockwork.off(1000);
  const second = start(Alarms, clockwork, journal);
  await clockwork.pass(20_000, second.program);
  assert.deepEqual(rung, [11, 10, 12, 100, 3]);
  assert.deepEqual([...journal.range("w/")], []);
  await second.program.stop(0);
});
