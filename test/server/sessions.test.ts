import assert from "node:assert/strict";
import { test } from "node:test";
import { RawSocket, Wire } from "./raw.js";
import { started, until } from "./town.js";

/** Messages to clients that come and go. */

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const messagesIn = (heard: readonly unknown[][]) =>
  heard.filter(([, what]) => what === "message").map(([, , sequence, , , , value]) => [sequence, value]);

test("messages sent while the client was away arrive when it is back, once and in order", async (t) => {
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const ada = client({ url: wire.url, backoffMs: 20 });
  const helper = client();
  const heard: unknown[] = [];
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(() => assert.fail("nothing was missed"));
  await ada.api.whoAmI();
  const id = String(ada.session);
  for (let round = 0; round < 5; round++) {
    if (round % 2 === 1) wire.cut();
    for (const i of numbers(round * 50 + 1, round * 50 + 50)) await helper.api.tell(id, i);
  }
  await until(() => heard.length >= 250);
  await ada.api.whoAmI();
  assert.deepEqual(heard, numbers(1, 250));
});

test("what was not acknowledged is sent again, and only that", async (t) => {
  const { server } = await started(t);
  const first = new RawSocket(t, server.url);
  await first.hello();
  first.ask(1, "tellMe", 5);
  await first.hears(([, what, sequence]) => what === "message" && sequence === 5);
  first.say([0, "ack", 3]);
  first.ask(2, "read", "nothing");
  await first.reply(2);
  first.ws.terminate();
  const second = new RawSocket(t, server.url);
  const [, , terms] = await second.hello("0".repeat(48), null, 4);
  assert.equal((terms as { resumed: boolean }).resumed, true);
  await second.hears(([, what]) => what === "message");
  second.ask(3, "read", "nothing");
  await second.reply(3);
  assert.deepEqual(messagesIn(second.heard), [[5, 5]]);
});

test("a client that says it has what was never sent is refused, and its session still ends when it stays away", async (t) => {
  const { server, log } = await started(t, { limits: { sessionMs: 2000 } });
  const first = new RawSocket(t, server.url);
  await first.hello();
  first.ws.close();
  await first.closed;
  const liar = new RawSocket(t, server.url);
  await liar.opened;
  liar.say([0, "hello", 1, "0".repeat(48), null, 5]);
  assert.equal((await liar.closed).code, 4014);
  await until(() => log.includes("ended a session whose client was away: HW-4016"));
});

test("no more messages are on their way than the client keeps up with", async (t) => {
  const { server } = await started(t);
  const socket = new RawSocket(t, server.url);
  await socket.hello();
  socket.ask(1, "tellMe", 3000);
  await socket.reply(1);
  socket.ask(2, "read", "nothing");
  await socket.reply(2);
  const window = messagesIn(socket.heard).length;
  assert.ok(window > 0 && window < 3000, `${window} came without an acknowledgement`);
  while (messagesIn(socket.heard).length < 3000) {
    const [last] = messagesIn(socket.heard).at(-1) ?? [];
    socket.say([0, "ack", last]);
    await socket.hears(([, what, sequence]) => what === "message" && Number(sequence) > Number(last));
  }
  assert.deepEqual(
    messagesIn(socket.heard).map(([sequence]) => sequence),
    numbers(1, 3000),
  );
});

test("a client that lets too many messages wait loses its session, and is told so", async (t) => {
  const { server, client, log } = await started(t, { limits: { messages: 10 } });
  const socket = new RawSocket(t, server.url);
  await socket.hello();
  const helper = client();
  socket.ask(1, "tellMe", 11);
  const { code, reason } = await socket.closed;
  assert.equal(code, 4016);
  assert.match(reason, /^HW-4016: the session was ended/);
  assert.ok(log.some((line) => line.endsWith("HW-4016")));
  assert.equal(await helper.api.bump("helper", 1), 1);
  const again = new RawSocket(t, server.url);
  const [, , terms] = await again.hello("0".repeat(48), null, 3);
  assert.equal((terms as { resumed: boolean }).resumed, false);
});

test("a client that missed messages hears of that, and goes on", async (t) => {
  const { server, client } = await started(t, { limits: { messageBytes: 1000 } });
  const wire = await Wire.between(t, () => server.port);
  const ada = client({ url: wire.url });
  const heard: unknown[] = [];
  let missed = 0;
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(({ code }) => {
    assert.equal(code, "HW-4016");
    missed += 1;
  });
  await ada.api.whoAmI();
  await client().api.tell(String(ada.session), "x".repeat(2000));
  await until(() => missed === 1);
  await ada.api.tell(String(ada.session), "short");
  await until(() => heard.length > 0);
  assert.deepEqual(heard, ["short"]);
});

test("a session whose client stays away ends, and with it what was kept for it", async (t) => {
  const { server, log } = await started(t, { limits: { sessionMs: 20 } });
  const first = new RawSocket(t, server.url);
  await first.hello();
  first.ask(1, "tellMe", 2);
  await first.reply(1);
  first.ws.terminate();
  await until(() => log.some((line) => line === "ended a session whose client was away: HW-4016"));
  const again = new RawSocket(t, server.url);
  const [, , terms] = await again.hello("0".repeat(48), null, 0);
  assert.equal((terms as { resumed: boolean }).resumed, false);
  again.ask(2, "read", "nothing");
  await again.reply(2);
  assert.deepEqual(messagesIn(again.heard), []);
});

test("when there are too many sessions, the one whose client is away longest makes room", async (t) => {
  const { server } = await started(t, { limits: { sessions: 3 } });
  const secrets = ["a", "b", "c", "d"].map((letter) => letter.repeat(48));
  const [a, b, c, d] = secrets as [string, string, string, string];
  const sockets = new Map<string, RawSocket>();
  const enter = async (secret: string) => {
    const socket = new RawSocket(t, server.url);
    sockets.set(secret, socket);
    const [, , terms] = await socket.hello(secret);
    return (terms as { resumed: boolean }).resumed;
  };
  for (const secret of [a, b, c]) assert.equal(await enter(secret), false);
  const refused = new RawSocket(t, server.url);
  await refused.opened;
  refused.say([0, "hello", 1, d, null, 0]);
  assert.equal((await refused.closed).code, 4013, "all of them have their clients");
  for (const secret of [b, a]) {
    sockets.get(secret)?.ws.close();
    await sockets.get(secret)?.closed;
  }
  assert.equal(await enter(d), false);
  assert.equal(await enter(a), true, "it went later");
});

test("when the messages to one caller take up its share, its session whose client is away longest is ended", async (t) => {
  const { server, client, log } = await started(t, { limits: { messageBytesTotal: 9000 } });
  const secrets = ["a".repeat(48), "b".repeat(48)];
  const ids: string[] = [];
  for (const secret of secrets) {
    const socket = new RawSocket(t, server.url);
    const [, , terms] = await socket.hello(secret);
    ids.push((terms as { session: string }).session);
    socket.ws.close();
    await socket.closed;
  }
  const helper = client();
  for (const id of [...ids, ...ids]) await helper.api.tell(id, "x".repeat(900));
  await until(() => log.length > 0);
  assert.deepEqual(log, ["ended a session whose client was away: HW-4016"]);
  const resumed = [];
  for (const secret of secrets) {
    const [, , terms] = await new RawSocket(t, server.url).hello(secret);
    resumed.push((terms as { resumed: boolean }).resumed);
  }
  assert.deepEqual(resumed, [false, true]);
});

test("a newer connection takes a session over; the older one is told and does not come back", async (t) => {
  const { server } = await started(t);
  const [first, second] = [new RawSocket(t, server.url), new RawSocket(t, server.url)];
  await first.hello();
  await second.hello();
  assert.equal((await first.closed).code, 4021);
  second.ask(1, "whoAmI");
  assert.equal((await second.reply(1))[1], true);
});

test("knowing what a program sees as its caller is not enough to take a session over", async (t) => {
  const { server } = await started(t);
  const socket = new RawSocket(t, server.url);
  const secret = "5".repeat(48);
  const [, , terms] = await socket.hello(secret);
  const { session } = terms as { session: string };
  assert.ok(!secret.includes(session) && !session.includes(secret));
  const thief = new RawSocket(t, server.url);
  await thief.opened;
  thief.say([0, "hello", 1, session, null, 0]);
  assert.equal((await thief.closed).code, 4014);
});
