import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { HOST_MARKS, runCampaign, scenarioOf, shrinkScenario, simulate } from "headwater/sim";

const seeds = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

test("over 600 seeds the runtime equals a run one event at a time, and everything that can happen did", async () => {
  const { failure, missing, seeds: run } = await runCampaign({ seeds: seeds(1, 600), events: 200 });
  assert.equal(failure, null);
  assert.deepEqual(missing, []);
  assert.equal(run, 600);
});

test("over 500 seeds nothing acknowledged is lost and nothing happens twice, whenever process and disk fail", async () => {
  const { failure, missing } = await runCampaign({ seeds: seeds(1, 500), events: 60, crashes: true });
  assert.equal(failure, null);
  assert.deepEqual(missing, []);
});

test("over 500 seeds several hosts are as good as one, while contexts move and hosts crash", async () => {
  const together = await runCampaign({ seeds: seeds(1, 250), events: 60, hosts: true });
  assert.equal(together.failure, null);
  const crashing = await runCampaign({ seeds: seeds(251, 200), events: 60, hosts: true, crashes: true });
  assert.equal(crashing.failure, null);
  const crowded = await runCampaign({ seeds: seeds(1, 50), events: 600, hosts: true, crashes: true });
  assert.equal(crowded.failure, null);
  for (const mark of HOST_MARKS) assert.ok((crashing.marks[mark] ?? 0) > 0, mark);
});

test("tickets that were acknowledged are not given out again after a second crash, though old ones are kept over the first", async () => {
  const { differences } = await simulate(scenarioOf(93017373, 1000, false), { crashes: true });
  assert.deepEqual(differences, []);
});

test("the same seeds give the same trace, other seeds another one", async () => {
  const [once, again, other] = [
    await runCampaign({ seeds: seeds(7, 40), events: 300 }),
    await runCampaign({ seeds: seeds(7, 40), events: 300 }),
    await runCampaign({ seeds: seeds(8, 40), events: 300 }),
  ];
  assert.equal(once.hash, again.hash);
  assert.equal(once.events, again.events);
  assert.notEqual(once.hash, other.hash);
  const crashes = { seeds: seeds(7, 20), events: 60, crashes: true, hosts: true };
  assert.equal((await runCampaign(crashes)).hash, (await runCampaign(crashes)).hash);
});

test("the same seeds give the same trace in another process", async () => {
  const here = await runCampaign({ seeds: seeds(90, 20), events: 30 });
  const args = [cli, "sim", "--seed", "90", "--seeds", "20", "--events", "30", "--json"];
  const there = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Record<
    string,
    unknown
  >;
  assert.equal(there.hash, here.hash);
  assert.equal(there.events, here.events);
  assert.equal(there.ok, true);
  assert.equal(there.failure, null);
});

test("clients whose requests a full disk refuses leave the other parts of the world their turns", async () => {
  const { differences } = await simulate(scenarioOf(93001515, 1000, false), { crashes: true });
  assert.deepEqual(differences, []);
});

test("a context that is deleted while it is copied, from one host and then from another, does not come back", async () => {
  const { differences } = await simulate(scenarioOf(93019949, 1000, false), { hosts: true });
  assert.deepEqual(differences, []);
});

test("a host that is lost while others start is replaced, since no other takes its contexts over", async () => {
  const { differences } = await simulate(scenarioOf(93006919, 1000, false), { hosts: true, crashes: true });
  assert.deepEqual(differences, []);
});

test("shrinking says after each program how many were tried and how many requests are left", async () => {
  const options = { plant: "results-as-they-come" } as const;
  const { failure } = await runCampaign({ seeds: seeds(1, 100), events: 30, ...options });
  assert.ok(failure !== null, "the plant shows a difference");
  const { scenario } = failure.found;
  const said: { seed: number; programs: number; requests: number }[] = [];
  const shrunk = await shrinkScenario(scenario, options, async (done) => void said.push(done));
  assert.deepEqual(
    said.map(({ seed, programs }) => [seed, programs]),
    said.map((_, index) => [scenario.seed, index + 1]),
  );
  const left = said.map(({ requests }) => requests);
  assert.deepEqual(
    left,
    left.toSorted((a, b) => b - a),
    "requests are only taken away",
  );
  assert.ok(left.length > 0 && left.at(-1) === shrunk.scenario.workload.length);
});

test("headwater sim refuses numbers that make no sense", () => {
  for (const args of [
    ["--seeds", "0"],
    ["--seeds", "many"],
    ["--seed", "-1"],
    ["--events", "1.5"],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [cli, "sim", ...args], { encoding: "utf8" });
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, /HW-2001/);
  }
});
