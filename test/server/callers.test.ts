import assert from "node:assert/strict";
import { test } from "node:test";
import { callerOf } from "#src/server/budgets.js";
import { ReadTurns } from "#src/server/turns.js";
import { RawSocket } from "./raw.js";
import { started } from "./town.js";

/** What one caller does is at its own expense, not at that of others. */

const STRANGER = "127.0.0.2";

test("a stranger who opens many sessions evicts its own, and not another caller's that is away", async (t) => {
  const { server } = await started(t, { limits: { sessions: 5 } });
  const enter = async (secret: string, address?: string) => {
    const socket = new RawSocket(t, server.url, {}, address);
    const [, , terms] = await socket.hello(secret);
    return { socket, resumed: (terms as { resumed: boolean }).resumed };
  };
  const { socket } = await enter("a".repeat(48));
  socket.ws.close();
  await socket.closed;
  for (let i = 10; i < 40; i++) {
    const stranger = await enter(String(i).repeat(24), STRANGER);
    stranger.socket.ws.close();
    await stranger.socket.closed;
  }
  assert.equal((await enter("a".repeat(48))).resumed, true);
});

test("a stranger whose sessions are all connected is refused one more, if the others have fewer", async (t) => {
  const { server } = await started(t, { limits: { sessions: 3 } });
  const victim = new RawSocket(t, server.url);
  await victim.hello("a".repeat(48));
  victim.ws.close();
  await victim.closed;
  for (const digit of ["1", "2"]) await new RawSocket(t, server.url, {}, STRANGER).hello(digit.repeat(48));
  const refused = new RawSocket(t, server.url, {}, STRANGER);
  await refused.opened;
  refused.say([0, "hello", 1, "3".repeat(48), null, 0]);
  assert.equal((await refused.closed).code, 4013);
  const [, , terms] = await new RawSocket(t, server.url).hello("a".repeat(48));
  assert.equal((terms as { resumed: boolean }).resumed, true);
});

test("messages to one caller's sessions take nothing from another caller's share", async (t) => {
  const { server, client, log } = await started(t, {
    limits: { messageBytesTotal: 60_000, messageBytes: 60_000 },
  });
  const sessions: string[] = [];
  for (const [secret, address] of [
    ["a", "127.0.0.1"] as const,
    ["b", STRANGER] as const,
    ["c", STRANGER] as const,
  ]) {
    const socket = new RawSocket(t, server.url, {}, address);
    const [, , terms] = await socket.hello(secret.repeat(48));
    sessions.push((terms as { session: string }).session);
    socket.ws.close();
    await socket.closed;
  }
  const [victim = "", ...strangers] = sessions;
  const helper = client();
  await helper.api.tell(victim, "x".repeat(5000));
  for (let i = 0; i < 20; i++) {
    for (const stranger of strangers) await helper.api.tell(stranger, "x".repeat(5000));
  }
  const [, , terms] = await new RawSocket(t, server.url).hello("a".repeat(48));
  assert.equal((terms as { resumed: boolean }).resumed, true);
  assert.ok(log.includes("ended a session whose client was away: HW-4016"));
});

test("large requests are read by turns, callers in turn, one per turn of the event loop", async () => {
  const turns = new ReadTurns();
  const read: string[] = [];
  for (let i = 1; i <= 4; i++) turns.wait("stranger", () => read.push(`stranger ${i}`));
  turns.wait("ada", () => read.push("ada 1"));
  turns.wait("ada", () => read.push("ada 2"));
  for (let before = 0; read.length < 6; before = read.length) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(read.length <= before + 1, "no more than one at a time");
  }
  assert.deepEqual(read, ["stranger 1", "ada 1", "stranger 2", "ada 2", "stranger 3", "stranger 4"]);
});

test("a caller is the name of its token, or the address that it calls from", () => {
  assert.equal(callerOf("ada", "10.0.0.1"), "token ada");
  assert.equal(callerOf(null, "::ffff:10.0.0.1"), callerOf(null, "10.0.0.1"));
  assert.notEqual(callerOf(null, "10.0.0.1"), callerOf(null, "10.0.0.2"));
  assert.equal(callerOf(null, "2001:db8:1:2::1"), callerOf(null, "2001:db8:1:2:3:4:5:6"));
  assert.notEqual(callerOf(null, "2001:db8:1:2::1"), callerOf(null, "2001:db8:1:3::1"));
  assert.notEqual(callerOf(null, "::1"), callerOf(null, "2001:db8::1"));
});
