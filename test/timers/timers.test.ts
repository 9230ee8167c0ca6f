import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, run } from "headwater";
import { Random } from "#src/random.js";
import { Clockwork, CountingJournal, start } from "./clockwork.js";

class Alarm extends Context<number> {
  rang: number[] = [];
  ids: Record<number, string> = {};

  set(name: number, ms: number) {
    this.ids[name] = this.event.after(ms, this.ring, name);
  }
  ring(name: number) {
    this.rang.push(name);
    rung.push(name);
    delete this.ids[name];
  }
  cancel(name: number) {
    if (this.ids[name] !== undefined) this.event.cancel(this.ids[name]);
    delete this.ids[name];
  }
  time() {
    return this.event.time;
  }
}
class Alarms extends Context {
  alarms = this.children(Alarm);

  tell(client: string) {
    this.event.send(client, "hello");
  }
  async setAll(names: readonly number[], ms: number) {
    for (const name of names) await this.alarms(name % 3).set(name, ms);
  }
}
/** In the order of ringing, whichever context rang. */
let rung: number[] = [];

const HOUR_MS = 3_600_000;

test("timers that are overdue at a restart go off as they are due, then in the order of asking", async () => {
  rung = [];
  const [clockwork, journal] = [new Clockwork(), new CountingJournal()];
  const first = start(Alarms, clockwork, journal);
  for (let name = 1; name <= 12; name++) await first.root.alarms(0).set(name, 500);
  await first.root.alarms(1).set(13, 400);
  await first.root.setAll([20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30], 450); // positions beyond 9, too
  await first.program.stop(0);
  clockwork.off(60_000);
  const second = start(Alarms, clockwork, journal);
  await clockwork.pass(0, second.program);
  assert.deepEqual(
    rung,
    [13, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  await second.program.stop(0);
});

test("random timers, cancellations, restarts and clocks that jump: each goes off once, in due order, at its time", async () => {
  for (let seed = 1; seed <= 25; seed++) await tryClocks(new Random(seed), seed % 2 === 0);
});

/** The oracle: which timers are armed, and when, by a clock that nobody sets. */
async function tryClocks(random: Random, crashes: boolean): Promise<void> {
  rung = [];
  const clockwork = new Clockwork();
  const journal = crashes ? new CountingJournal() : null;
  const limits = { timers: random.pick([1, 2, 5, 1000]) };
  let { program, root } = start(Alarms, clockwork, journal, limits);
  const armed = new Map<number, number>();
  const expected: number[] = [];
  let name = 0;
  let steadyMs = 0; // counts the pauses without a process as what the machine's clock said of them
  const settle = async (ms: number) => {
    await clockwork.pass(ms, program);
    steadyMs += ms;
    const due = [...armed].filter(([, at]) => at <= steadyMs).sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    for (const [each] of due) {
      armed.delete(each);
      expected.push(each);
    }
    assert.deepEqual(rung, expected);
  };
  for (let step = 0; step < 60; step++) {
    const act = random.int(10);
    if (act < 5) {
      name += 1;
      const ms = random.pick([0, 1, 50, 50, 500, 5000]);
      await root.alarms(name % 3).set(name, ms);
      armed.set(name, steadyMs + ms);
    } else if (act === 5 && armed.size > 0) {
      const gone = random.pick([...armed.keys()]);
      await root.alarms(gone % 3).cancel(gone);
      armed.delete(gone);
    } else if (act === 6) {
      clockwork.setBy(random.pick([-HOUR_MS, HOUR_MS, -70]));
      await root.alarms(0).time();
    } else if (act === 7 && journal !== null) {
      await root.alarms(9).set(0, 1e9); // what happened last is in the journal
      await program.stop(0);
      const [pauseMs, setMs] = [random.int(3000), random.pick([0, 0, -HOUR_MS, 2000])];
      clockwork.off(pauseMs);
      clockwork.setBy(setMs);
      steadyMs += Math.max(0, pauseMs + setMs);
      ({ program, root } = start(Alarms, clockwork, journal, limits));
    }
    await settle(random.pick([0, 0, 10, 300]));
  }
  await settle(10_000);
  assert.equal(armed.size, 0);
  await program.stop(0);
}

test("a clock that is set back or forward delays no timer and hastens none, and event times follow it", async () => {
  for (const jump of [-HOUR_MS, HOUR_MS]) {
    rung = [];
    const clockwork = new Clockwork();
    const { program, root } = start(Alarms, clockwork, null);
    const before = await root.alarms(0).time();
    await root.alarms(0).set(1, 300);
    clockwork.setBy(jump);
    await root.alarms(0).set(2, 300);
    assert.equal((await root.alarms(0).time()) - before, jump);
    await clockwork.pass(299, program);
    assert.deepEqual(rung, []);
    await clockwork.pass(1, program);
    assert.deepEqual(rung, [1, 2]);
    await program.stop(0);
  }
});

test("a timer never goes off early by the clock that only goes forward", async () => {
  const service = await run(Early);
  const early: string[] = [];
  for (let i = 0; i < 200; i++) {
    const askedMs = performance.now(); // the event has its ticket after that
    const ms = i % 4;
    const rang = new Promise<number>((resolve) => {
      ring = resolve;
    });
    await service.root.set(ms);
    const tookMs = (await rang) - askedMs;
    if (tookMs < ms) early.push(`${tookMs} of ${ms}`);
  }
  assert.deepEqual(early, []);
  await service.stop();
});

let ring: (atMs: number) => void = () => {};
class Early extends Context {
  set(ms: number) {
    this.event.after(ms, this.rang);
  }
  rang() {
    ring(performance.now());
  }
}

test("a timer costs the same however many others its context has, in the journal and when it is loaded", async () => {
  const bytes = async (count: number) => {
    const [clockwork, journal] = [new Clockwork(), new CountingJournal()];
    const { program, root } = start(Alarm as unknown as new () => Bare, clockwork, journal);
    for (let name = 0; name < count; name++) await root.bare(name);
    await program.stop(0);
    return journal.bytesWritten / count;
  };
  const [few, many] = [await bytes(200), await bytes(4000)];
  assert.ok(many < few * 1.5, `${few} bytes each for few, ${many} for many`);
});
type Bare = Alarm & { bare(name: number): void };
(Alarm.prototype as Bare).bare = function (this: Alarm, name: number) {
  this.event.after(1e9, this.ring, name);
};

test("what a restart reads does not grow with the clients for which messages are kept", async () => {
  const atRestart = async (count: number) => {
    const [clockwork, journal] = [new Clockwork(), new CountingJournal()];
    const first = start(Alarms, clockwork, journal);
    for (let i = 0; i < count; i++) first.program.clients.connect(`client ${i}`, () => {}, "later");
    await first.root.tell("client 7");
    await first.program.stop(0);
    journal.read = 0;
    const second = start(Alarms, clockwork, journal);
    const heard: unknown[] = [];
    assert.ok(second.program.clients.connect("client 7", (message) => heard.push(message)).isComplete);
    assert.ok(!second.program.clients.connect("another", () => {}).isComplete);
    await second.root.alarms(0).time();
    await second.program.until(() => second.program.isIdle);
    assert.deepEqual(heard, ["hello"]);
    const { read } = journal;
    await second.program.stop(0);
    return read;
  };
  assert.equal(await atRestart(1000), await atRestart(10));
});

test("what a restart reads does not grow with the armed timers, and neither does memory", async () => {
  const atRestart = async (count: number) => {
    const [clockwork, journal] = [new Clockwork(), new CountingJournal()];
    const first = start(Alarms, clockwork, journal, { timers: 20 });
    for (let name = 0; name < count; name++) await first.root.alarms(name).set(name, HOUR_MS + name);
    await first.program.stop(0);
    journal.read = 0;
    const second = start(Alarms, clockwork, journal, { timers: 20 });
    await second.root.alarms(0).time();
    const { read } = journal;
    const timersInMemory = second.program.node("Root").timers.inMemory;
    await second.program.stop(0);
    return { read, timersInMemory };
  };
  const [some, many] = [await atRestart(50), await atRestart(2000)];
  assert.deepEqual(many, some);
  assert.equal(some.timersInMemory, 20);
});
