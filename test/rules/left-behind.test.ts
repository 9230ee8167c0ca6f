import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Context, type Ref, run } from "headwater";
import { Gates, turns } from "../gates.js";
import { refused } from "../refused.js";

const gates = new Gates();

class Leaf extends Context<number> {
  n = 0;
  add() {
    this.n += 1;
    return this.n;
  }
  fail() {
    throw new RangeError(`leaf ${this.key} has failed`);
  }
}
class Branch extends Context<number> {
  n = 0;
  log: number[] = [];
  leaves = this.children(Leaf);

  look() {
    return [this.n, this.log.length];
  }
  private async helper() {
    const n = await this.leaves(1).add();
    this.n += n;
    return this.n;
  }
  private async waits() {
    await gates.pass("helper");
    this.n += 1;
  }
  private async breaks() {
    await null;
    throw new RangeError("the helper is broken");
  }
  async forgetsHelper() {
    void this.helper();
  }
  forgetsHelperAtOnce() {
    void this.helper();
  }
  async forgetsHelperThatWaits() {
    void this.waits();
  }
  async forgetsHelperThatBreaks() {
    void this.breaks();
    await this.leaves(1).add();
  }
  async awaitsHelpers() {
    await this.helper();
    return Promise.all([this.helper(), this.helper()]);
  }
  async forgetsFunctions() {
    for (const leaf of [1, 2]) void (async () => this.log.push(await this.leaves(leaf).add()))();
  }
  async forgetsCallAfterCall() {
    void (async () => {
      await this.leaves(1).add();
      await this.leaves(2).add();
    })().catch(() => {});
  }
  async forgetsMessage() {
    void (async () => {
      await this.leaves(1).add();
      this.event.send("ada", "late");
    })();
  }
  async forgetsDowngrade() {
    void (async () => {
      await this.leaves(1).add();
      this.downgrade();
    })();
  }
  async goesOnAfterFailure() {
    const others = [
      this.leaves(1).fail(),
      this.leaves(2)
        .add()
        .then((n) => this.log.push(n)),
    ];
    await Promise.all(others).catch(() => {});
  }
  async waitsForAllThatFail() {
    const others = [
      this.leaves(1).fail(),
      this.leaves(2)
        .add()
        .then((n) => this.log.push(n)),
    ];
    await Promise.allSettled(others);
  }
  later = "";
  setsLater(text: string) {
    setImmediate(() => {
      this.later = text;
      gates.open("written");
    });
  }
  async setsLaterToo(text: string) {
    setImmediate(() => {
      this.later = text;
      gates.open("written too");
    });
  }
  seesLater() {
    return this.later;
  }
  waitsAtOnce(gate: string) {
    return gates.pass(gate).then(() => this.later);
  }
}
class Tree extends Context {
  branches = this.children(Branch);
  async catches() {
    return this.branches(1)
      .forgetsHelper()
      .catch(() => "caught");
  }
}

async function branch(use: (branch: Service) => Promise<void>): Promise<void> {
  const { root, stop } = await run(Tree);
  try {
    await use(root.branches(1));
  } finally {
    await stop();
  }
}
type Service = Ref<Branch>;

test("HW-1026: a method that does not await its own async method fails its event as a whole", () =>
  branch(async (own) => {
    await refused(own.forgetsHelper(), "HW-1026", "Tree.branches(1).forgetsHelper", "await this.helper(");
    await refused(own.forgetsHelperAtOnce(), "HW-1026", "forgetsHelperAtOnce", "helper");
    await refused(own.forgetsHelperThatWaits(), "HW-1026", "forgetsHelperThatWaits", "waits");
    await refused(own.forgetsHelperThatBreaks(), "HW-1026", "forgetsHelperThatBreaks", "breaks");
    gates.open("helper");
    await turns();
    assert.deepEqual(await own.look(), [0, 0]);
    assert.equal(await own.leaves(1).add(), 1);
  }));

test("async methods of one's own that are awaited are part of the event", () =>
  branch(async (own) => {
    assert.deepEqual(await own.awaitsHelpers(), [3, 6]);
    assert.deepEqual(await own.look(), [6, 0]);
  }));

test("HW-1026: nothing may be done by code that goes on when its method has returned; the error says what", () =>
  branch(async (own) => {
    await refused(own.forgetsFunctions(), "HW-1026", "Tree.branches(1).forgetsFunctions", "changed log");
    await refused(own.forgetsCallAfterCall(), "HW-1026", "called Tree.branches(1).leaves(2).add");
    await refused(own.forgetsMessage(), "HW-1026", "used this.event");
    await refused(own.forgetsDowngrade(), "HW-1026", "this.downgrade()");
    await refused(own.goesOnAfterFailure(), "HW-1026", "changed log", "Promise.allSettled");
    assert.deepEqual(await own.look(), [0, 0]);
    await own.waitsForAllThatFail();
    assert.deepEqual(await own.look(), [0, 1]);
    for (const leaf of [1, 2]) assert.equal(await own.leaves(leaf).add(), leaf);
  }));

test("HW-1026: it cannot be caught inside the event", async () => {
  const { root, stop } = await run(Tree);
  await refused(root.catches(), "HW-1026", "Tree.branches(1).forgetsHelper");
  await stop();
});

test("HW-1027: code left behind by a method reaches no other event, and what it assigns is told of once", () =>
  branch(async (own) => {
    const warned = once(process, "warning");
    await own.setsLater("left behind");
    await gates.pass("written");
    assert.equal(await own.seesLater(), "");
    const [warning] = (await warned) as [Error & { code?: string }];
    assert.equal(warning.code, "HW-1027");
    assert.match(warning.message, /this\.later of Tree\.branches\(1\)/);
  }));

test("a method that is not async but returns a promise never runs where code was left behind", () =>
  branch(async (own) => {
    assert.equal(await own.seesLater(), "");
    for (let i = 0; i < 3; i++) {
      await own.setsLater(`left behind ${i}`);
      const waiting = own.waitsAtOnce(`at once ${i}`);
      await gates.reached(`at once ${i}`);
      await turns();
      gates.open(`at once ${i}`);
      assert.equal(await waiting, "");
    }
    await own.setsLaterToo("left behind");
    await gates.pass("written too");
    assert.equal(await own.seesLater(), "");
  }));

const program = fileURLToPath(new URL("./programs/rejections.ts", import.meta.url));

test("rejections that are not a context's end the process as they do without Headwater", async () => {
  const rejected = promisify(execFile)(process.execPath, ["--import", "tsx", program, "application"]);
  await assert.rejects(rejected, ({ code, stderr }: { code: number; stderr: string }) => {
    assert.equal(code, 1);
    assert.match(stderr, /the application is broken/);
    return true;
  });
});

test("nor are failed requests taken for a context's, whatever their errors say of where they come from", async () => {
  const rejected = promisify(execFile)(process.execPath, ["--import", "tsx", program, "request"]);
  await assert.rejects(rejected, ({ code, stderr }: { code: number; stderr: string }) => {
    assert.equal(code, 1);
    assert.match(stderr, /the method is broken/);
    return true;
  });
});

for (const hosts of ["1", "2"]) {
  test(`HW-1028: rejections in methods that nobody handles are told of, and the process goes on, on ${hosts} hosts`, async () => {
    for (const [where, named] of [
      ["method", "Root.leaves"],
      ["call", "Root.asks"],
    ]) {
      const args = ["--import", "tsx", program, where ?? "", hosts];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
      assert.match(stdout, /went on/);
      assert.match(stderr, new RegExp(`HW-1028.*${named}.* is broken`, "s"));
    }
  });
}

const plain = fileURLToPath(new URL("./programs/plain-rejections.mjs", import.meta.url));

for (const [how, ...options] of [
  ["plain Node"],
  ["source maps", "--enable-source-maps"],
  ["tsx", "--import", "tsx"],
]) {
  test(`HW-1028: rejections are known to come from a method, before and after an await, with ${how}`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...options, plain]);
    assert.deepEqual(JSON.parse(stdout), [
      ["Desk.atOnce", "atOnce"],
      ["Desk.calls", "calls"],
      ["Desk.later", "later"],
      ["Desk.awaits", "awaits"],
      ["Desk.maps", "maps"],
      ["Leaf.later", "the leaf"],
      ["Desk.afterCall", "afterCall"],
      ["Context.later", "below"],
    ]);
  });
}
