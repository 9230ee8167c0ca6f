import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Context, type ContextClass, type NodeService, run } from "headwater";
import { analyze } from "headwater/analysis";
import { loadProgram } from "#src/cli/program.js";
import { programFacts, showProgram } from "#src/dataflow/index.js";
import { Random } from "#src/random.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What a method may do with a number, and whether the order of several makes no difference. */
const BODIES = [
  { text: "this.seen.add(n);", isConfluent: true },
  { text: "this.sum += n;", isConfluent: true },
  { text: "this.last = n;", isConfluent: false },
  { text: "this.all.push(n);", isConfluent: false },
  { text: "this.sum = 2 * this.sum + n;", isConfluent: false },
] as const;

interface RandomProgram {
  readonly text: string;
  /** The requests that there are: a sender, and what it is told to send. */
  readonly requests: readonly (readonly [sender: string, method: string])[];
  readonly isConfluent: boolean;
  readonly isDeclared: boolean;
  readonly senders: number;
}

/** Logical nodes that pass numbers on to one that keeps something of them. */
function randomProgram(random: Random): RandomProgram {
  const methods = Array.from({ length: 1 + random.int(2) }, (_, i) => ({
    name: `m${i}`,
    ...random.pick(BODIES),
  }));
  const senders = 1 + random.int(2);
  const names = Array.from({ length: senders }, (_, i) => `s${i}`);
  const requests = names.flatMap((sender) => methods.map(({ name }) => [sender, name] as const));
  const isConfluent = methods.every((each) => each.isConfluent);
  // Nobody declares what is not so.
  const declared = methods.filter((each) => each.isConfluent && random.chance(0.7));
  const sending = ({ name }: { name: string }) =>
    `  ${name}(n: number) { this.event.send(this.event.peer(Keeper)).${name}(n); }`;
  const text = `
import { Context, expose, readonly } from "headwater";
export class Keeper extends Context {
  static readonly confluent = [${declared.map(({ name }) => `"${name}"`).join(", ")}];
  seen = new Set<number>();
  sum = 0;
  last = 0;
  all: number[] = [];
${methods.map(({ name, text: body }) => `  ${name}(n: number) { ${body} }`).join("\n")}
  @readonly shown() { return [[...this.seen].sort(), this.sum, this.last, this.all]; }
}
${names.map((name) => `export class ${name.toUpperCase()} extends Context {\n${methods.map(sending).join("\n")}\n}`).join("\n")}
const nodes = { ${names.map((name) => `${name}: ${name.toUpperCase()}`).join(", ")}, keeper: Keeper };
export default nodes;
export const api = expose(nodes, {
${requests.map(([sender, method]) => `  ${sender}${method}: ({ ${sender} }, n: number) => ${sender}.${method}(n),`).join("\n")}
});
`;
  return { text, requests, isConfluent, isDeclared: declared.length === methods.length, senders };
}

type Roots = Readonly<Record<string, ContextClass<Context>>>;

/** What the keeper is at the end, when messages arrive in this order. */
async function outcome(roots: Roots, order: readonly (readonly [string, string, number])[]): Promise<string> {
  await using service = (await run(roots)) as NodeService<Roots>;
  const nodes = service.nodes as unknown as Record<string, Record<string, (n?: number) => Promise<unknown>>>;
  for (const [sender, method, n] of order) {
    await nodes[sender]?.[method]?.(n);
    await service.idle();
  }
  return JSON.stringify(await nodes.keeper?.shown?.());
}

/** Requests come in any order. */
function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.int(left.length), 1)[0] as T);
}

async function folder(t: TestContext): Promise<string> {
  await mkdir(join(ROOT, ".cache"), { recursive: true });
  const made = await mkdtemp(join(ROOT, ".cache", "dataflow-"));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

test("what is labelled deterministic is so under every order of deliveries, and where order is asked for, one of them shows why", async (t) => {
  const at = await folder(t);
  const seen = new Set<string>();
  for (let seed = 0; seed < 24; seed++) {
    const random = new Random(seed);
    const { text, requests, isConfluent, isDeclared, senders } = randomProgram(random);
    const file = join(at, `program${seed}.ts`);
    await writeFile(file, text);
    const { default: roots } = (await import(pathToFileURL(file).href)) as { default: Roots };
    const { dataflow, unclear, undeclared } = await programFacts(file, roots);
    assert.deepEqual(unclear, [], text);
    assert.equal(undeclared.length === 0, isDeclared, text);
    const label = analyze(dataflow).streams.get("keeper.state")?.label;
    const asked = Array.from({ length: 8 }, (_, n) => [...random.pick(requests), n + 1] as const);
    const outcomes = new Set<string>();
    for (let i = 0; i < 6; i++) outcomes.add(await outcome(roots, shuffled(asked, random)));
    const isDeterministic = label === "Async" || label === "Seal";
    seen.add(`${senders} ${isConfluent} ${isDeclared} ${isDeterministic}`);
    if (isDeterministic) assert.equal(outcomes.size, 1, `seed ${seed} is ${label}\n${text}`);
    assert.equal(isDeterministic, isDeclared, `seed ${seed} is ${label}\n${text}`);
    if (!isConfluent)
      assert.ok(outcomes.size > 1, `seed ${seed} is ${label}, and no order shows why\n${text}`);
  }
  assert.ok(seen.size >= 4, [...seen].join("; "));
});

test("of the examples it says where order is paid for, and where nobody could tell", async () => {
  const facts = async (name: string) => {
    const file = join(ROOT, "examples", `${name}.ts`);
    const { default: roots } = (await import(pathToFileURL(file).href)) as { default: Roots };
    const { inside, unclear, undeclared, dataflow } = await programFacts(file, roots);
    const fields = Object.fromEntries(
      inside.map(({ field, because }) => [field, because.map(({ text }) => text)]),
    );
    return { fields, unclear, undeclared, streams: dataflow.streams.map(({ name: stream }) => stream) };
  };
  assert.deepEqual((await facts("kv")).fields, { "Store.buckets": [] });
  const bank = await facts("bank");
  assert.ok(bank.fields["Bank.branches"]?.includes("Bank.transfer calls Account.deposit"));
  const life = await facts("life");
  assert.deepEqual(life.undeclared, [{ cls: "Printer", methods: ["begin", "show"] }]);
  assert.ok(life.streams.includes("compute to printer"));
  const auction = await facts("auction");
  assert.ok(auction.fields["AuctionHouse.bidders"]?.includes("AuctionHouse.bid calls Bidder.status"));
  for (const each of [bank, life, auction]) assert.deepEqual(each.unclear, []);
});

test("a reference that goes where it cannot be followed is taken for the worst, with its place", async (t) => {
  const file = join(await folder(t), "program.ts");
  await writeFile(
    file,
    `import { Context } from "headwater";
export class Keeper extends Context {
  static readonly confluent = ["add"];
  n = 0;
  add(n: number) { this.n += n; }
  set(n: number) { this.n = n; }
}
export class Sender extends Context {
  pass(n: number) { tell(this.event, n); }
}
function tell(event: Sender["event"], n: number) { event.send(event.peer(Keeper)).set(n); }
export default { sender: Sender, other: Sender, keeper: Keeper };
`.replace('Sender["event"]', "any"),
  );
  const { default: roots } = (await import(pathToFileURL(file).href)) as { default: Roots };
  const { dataflow, unclear } = await programFacts(file, roots);
  assert.deepEqual(
    unclear.map(({ line }) => line),
    [9, 9],
  );
  assert.ok(dataflow.streams.some(({ name }) => name === "sender to keeper"));
  assert.equal(analyze(dataflow).streams.get("keeper.state")?.label, "Run");
});

test("the queries that contexts hold are shown with their labels and what is done about order", async () => {
  const file = join(ROOT, "examples/auction.ts");
  const { roots } = await loadProgram(file);
  const facts = await programFacts(file, roots);
  const [market, ...others] = facts.queries;
  assert.deepEqual([market?.cls, others], ["Market", []]);
  const told = Object.fromEntries((market?.queries ?? []).map((each) => [each.name, each]));
  assert.deepEqual(Object.keys(told), ["leaders", "spenders", "shills", "rushes"]);
  assert.equal(told.shills?.label, "Run");
  assert.match(told.shills?.coordination ?? "", /tickets of the graph/);
  assert.match(
    showProgram(facts),
    /queries in Market\n {2}leaders {2}Run, coordination: none: answers are retracted/,
  );
});
