import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Decision,
  type HeadwaterError,
  hostsOf,
  keep,
  type LoadEvent,
  type Measurements,
  type Policy,
  run,
  type Service,
} from "headwater";
import { policyOf } from "#src/elastic/elastic-hosts.js";
import { eventIn, lineOf } from "#src/elastic/load.js";
import { tryPolicy } from "#src/elastic/trial/trial.js";
import { refusedAtOnce } from "../refused.js";
import Town from "./programs/town.js";

const module = new URL("./programs/town.ts", import.meta.url).href;
const HOUSES = 8;

/** Keeps the town busy until something is true, and says how often each house was visited. */
async function busyUntil({ root }: Service<Town>, isEnough: () => boolean, ms = 2): Promise<number[]> {
  const visits = Array.from({ length: HOUSES }, () => 0);
  const visitors = visits.map(async (_, house) => {
    while (!isEnough()) visits[house] = await root.houses(house).visit(ms);
  });
  await Promise.all(visitors);
  return visits;
}

async function counted({ root }: Service<Town>): Promise<number[]> {
  return Promise.all(Array.from({ length: HOUSES }, (_, house) => root.houses(house).count()));
}

test("under load hosts are added, up to the maximum, each time with a reason, and every event counts once", async () => {
  const decisions: Decision[] = [];
  const bounds = { utilisation: [0.1, 0.3] } as const;
  const service = await run(Town, {
    module,
    hosts: {
      min: 1,
      max: 3,
      keep: bounds,
      inARow: 1,
      coolDownMs: 0,
      onDecision: (decision) => decisions.push(decision),
    },
  });
  try {
    const hosts = hostsOf(service);
    assert.equal(hosts.list().length, 1);
    const visits = await busyUntil(
      service,
      () => hosts.list().filter(({ state }) => state === "running").length === 3,
    );
    assert.deepEqual(await counted(service), visits);
    const added = decisions.flatMap(({ action }) => (action.kind === "add" ? action.count : []));
    assert.equal(
      added.reduce((sum, count) => sum + count, 0),
      2,
    );
    for (const { text, error } of decisions)
      assert.deepEqual([/hosts? (is|are) added: hosts are busy for \d+%/.test(text), error], [true, null]);
  } finally {
    await service.stop();
  }
});

test("a policy of one's own sees hosts and their contexts, and its actions are carried out", async () => {
  const seen: Measurements[] = [];
  const texts: string[] = [];
  /** Adds a host, moves the first context there that is elsewhere, then removes the first host. */
  const policy: Policy = (now) => {
    seen.push(now);
    const { hosts } = now;
    const [first, second] = hosts;
    if (texts.length === 0) return [{ kind: "add", count: 1, reason: "company" }];
    const [context] = first?.contexts ?? [];
    if (texts.length === 1 && second?.state === "running" && context !== undefined) {
      return [{ kind: "move", context: context.context, to: second.id, reason: "to see the world" }];
    }
    return texts.length === 2 && first !== undefined
      ? [{ kind: "remove", host: first.id, reason: "enough" }]
      : [];
  };
  const service = await run(Town, {
    module,
    hosts: { max: 2, policy, onDecision: ({ text }) => texts.push(text) },
  });
  try {
    const all = () => seen.flatMap(({ hosts }) => hosts).find(({ contexts }) => contexts.length === HOUSES);
    const isOver = () => texts.length === 3 && hostsOf(service).list().length === 1 && all() !== undefined;
    const visits = await busyUntil(service, isOver);
    assert.deepEqual(await counted(service), visits);
    assert.equal(texts[0], "a host is added: company");
    assert.match(texts[1] ?? "", /^Town\.houses\(\d\) moves to host 1: to see the world$/);
    assert.equal(texts[2], "host 0 is removed: enough");
    assert.deepEqual(
      hostsOf(service)
        .list()
        .map(({ id }) => id),
      [1],
    );
    const busy = all();
    assert.ok(busy, "a host was seen with all houses");
    const load = busy.contexts.reduce((sum, context) => sum + context.load, 0);
    assert.ok(load > 0 && load < 2, `the loads of the houses add up to ${load}`);
    assert.ok(busy.utilisation > 0 && busy.heapBytes > 0 && busy.eventsPerSecond > 0, JSON.stringify(busy));
    assert.ok(busy.contexts.every(({ eventsPerSecond }) => eventsPerSecond > 0));
  } finally {
    await service.stop();
  }
});

test("what a policy gets wrong is left out and heard of once, with the reason, and nobody is told that it was done", async () => {
  const reason = "why not";
  const wrong: readonly (readonly [wanted: unknown, says: string])[] = [
    [undefined, "it returned undefined"],
    [Promise.resolve([]), "it returned a promise"],
    [[{ kind: "explode", reason }], 'the kind "explode"; there are add, remove, move, balance, note'],
    [[null], "null is no action"],
    [[{ kind: "add", count: Number.NaN, reason }], "the count NaN"],
    [[{ kind: "add", count: 0.5, reason }], "the count 0.5"],
    [[{ kind: "add", count: "2", reason }], 'the count "2"'],
    [[{ kind: "add", count: 1 }], "no `reason`"],
    [[{ kind: "remove", host: 99, reason }], "`remove` names host 99; running hosts are 0, 1"],
    [[{ kind: "move", context: "Town.houses(0)", to: 77, reason }], "names host 77"],
    [[{ kind: "move", context: "Nope(1)", to: 0, reason }], '"Nope(1)" is no context of this program'],
    [[{ kind: "move", context: "Town.huts(1)", to: 0, reason }], "below Town there is houses(…)"],
    [
      [{ kind: "move", context: "Town.houses(3)", to: 1, reason }],
      "Town.houses(3) cannot be moved to host 1: it is pinned",
    ],
    [[{ kind: "balance", by: "moon", reason }], 'by "moon"'],
  ];
  const decisions: string[] = [];
  const warnings: HeadwaterError[] = [];
  let calls = 0;
  const all = wrong.flatMap(([wanted]) => (Array.isArray(wanted) ? (wanted as unknown[]) : []));
  const good = { kind: "note", reason: "all is well" };
  const answers = [undefined, Promise.resolve([]), [...all, good], [...all, good]];
  const service = await run(Town, {
    module,
    placement: { pin: { "Town.houses(3)": 0 } },
    hosts: {
      min: 2,
      max: 3,
      policy: () => answers[calls++] as never,
      onDecision: ({ text }) => decisions.push(text),
    },
    onWarning: (warning) => warnings.push(warning),
  });
  const visits = await busyUntil(service, () => calls >= answers.length);
  assert.deepEqual(await counted(service), visits);
  await service.stop();
  const messages = warnings.map(({ code, message }) => `${code} ${message}`);
  for (const [, says] of wrong)
    assert.equal(
      messages.filter((each) => each.startsWith("HW-6023") && each.includes(says)).length,
      1,
      says,
    );
  assert.equal(messages.length, wrong.length, messages.join("\n"));
  assert.deepEqual(new Set(decisions), new Set(["nothing is done: all is well"]));
});

test("a policy that is tried and gets something wrong ends the trial", () => {
  const policy = policyOf({ max: 2, policy: () => [{ kind: "remove", host: 9, reason: "x" }] });
  const load: LoadEvent[] = [{ atMs: 0, context: ["Town", "houses(1)"], costMs: 1 }];
  refusedAtOnce(() => tryPolicy(load, policy), "HW-6023", "host 9");
});

test("a policy that throws is heard of, and the program goes on", async () => {
  let heard: Decision | null = null;
  const policy = () => {
    throw new Error("lost my mind");
  };
  const service = await run(Town, {
    module,
    hosts: { max: 2, policy, onDecision: (decision) => (heard = decision) },
  });
  const visits = await busyUntil(service, () => heard !== null);
  assert.match((heard as Decision | null)?.text ?? "", /the policy threw: lost my mind/);
  assert.deepEqual(await counted(service), visits);
  await service.stop();
});

test("what is told of decisions and of the load may throw: it is said, and the program goes on", async (t) => {
  const said: string[] = [];
  const onWarning = ({ name, message }: Error) => void said.push(`${name}: ${message.split("\n")[0]}`);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  const policy: Policy = () => [{ kind: "note", reason: "something to say" }];
  const fail = (what: string) => () => {
    throw new Error(`${what} failed`);
  };
  const service = await run(Town, {
    module,
    hosts: { max: 2, policy, onDecision: fail("onDecision") },
    onLoad: fail("onLoad"),
  });
  const isSaid = (what: string) =>
    said.includes(`HeadwaterCallbackFailed: a callback threw: Error: ${what} failed`);
  const visits = await busyUntil(service, () => isSaid("onDecision") && isSaid("onLoad"));
  assert.deepEqual(await counted(service), visits);
  await service.stop();
});

test("a load that was recorded can be played to a policy", async () => {
  const recorded: LoadEvent[] = [];
  const service = await run(Town, { module, hosts: 2, onLoad: (event) => recorded.push(event) });
  const visits = await busyUntil(service, () => recorded.length > 0);
  await service.stop();
  const asked = recorded.filter(({ reads }) => !reads);
  assert.equal(
    asked.length,
    visits.reduce((sum, count) => sum + count, 0),
  );
  assert.ok(
    asked.every(
      ({ context, costMs }) =>
        /^houses\(\d\)$/.test(context[1] ?? "") && context[0] === "Town" && costMs > 1.5,
    ),
  );
  const played = recorded.map((event, i) => eventIn(lineOf(event), i + 1));
  assert.equal(tryPolicy(played, keep({ max: 4, utilisation: [0.3, 0.7] })).events, asked.length);
});

test("elastic hosts that make no sense are refused before anything starts", async () => {
  await assert.rejects(run(Town, { module, hosts: { min: 3, max: 2 } }), { code: "HW-6021" });
  await assert.rejects(run(Town, { module, hosts: { max: 2, policy: 3 as never } }), { code: "HW-6021" });
  await assert.rejects(run(Town, { hosts: { max: 2 } }), { code: "HW-6002" });
});
