import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { HeadwaterError } from "headwater";
import type { Journal, Write } from "#src/journal/journal.js";
import { compareKeys, KEY_BYTES_MAX } from "#src/journal/keys.js";
import { Random } from "#src/random.js";
import { refusedAtOnce } from "../refused.js";
import { allOf, outcome, textOf, write } from "./support.js";

/** In the order of UTF-8, which is not that of JavaScript's `<`: U+10000 and above come after U+E000 to U+FFFF. */
const NAMES = [
  "a",
  "a/",
  "a/b",
  "a/b\u0000",
  "ab",
  "z",
  "é",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "😀",
  "😀/1",
  "\u{10ffff}",
];

/** What every journal must do, whatever stands behind it. */
export function conforms(kind: string, open: (t: TestContext) => Promise<Journal>): void {
  describe(`a journal (${kind})`, () => {
    test("gives back the newest value, also before it is safe", async (t) => {
      const journal = await open(t);
      const safe = outcome(journal, [{ key: "a", value: Buffer.from("1") }]);
      assert.equal(textOf(journal, "a"), "1");
      assert.deepEqual(allOf(journal), { a: "1" });
      assert.equal(await safe, null);
      assert.equal(textOf(journal, "a"), "1");
      await write(journal, { a: "2", b: "" });
      assert.deepEqual(allOf(journal), { a: "2", b: "" });
      await write(journal, { a: null });
      assert.equal(journal.get("a"), undefined);
      assert.deepEqual(allOf(journal), { b: "" });
    });

    test("in one group, the last write of a key counts", async (t) => {
      const journal = await open(t);
      const value = Buffer.from("x");
      assert.equal(
        await outcome(journal, [
          { key: "a", value },
          { key: "a", value: null },
          { key: "b", value: null },
          { key: "b", value },
        ]),
        null,
      );
      assert.deepEqual(allOf(journal), { b: "x" });
    });

    test("says that groups are safe in the order in which they were appended, after the call has returned", async (t) => {
      const journal = await open(t);
      const settled: number[] = [];
      await new Promise<void>((resolve) => {
        const more = (i: number) => {
          journal.append(i % 7 === 0 ? [] : [{ key: `k${i % 5}`, value: Buffer.from(`${i}`) }], (error) => {
            assert.equal(error, null);
            settled.push(i);
            if (i % 3 === 0 && i < 300) for (const next of [1, 2, 3]) more(i + next);
            if (settled.length === 301) resolve();
          });
          assert.ok(!settled.includes(i));
        };
        more(0);
      });
      assert.deepEqual(
        settled,
        settled.toSorted((a, b) => a - b),
      );
    });

    test("reads keys in the order of their UTF-8 bytes, and only those with the prefix", async (t) => {
      const journal = await open(t);
      const byBytes = NAMES.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.notDeepEqual(byBytes, NAMES.toSorted(), "some of them JavaScript orders otherwise");
      for (const name of NAMES.toReversed()) await write(journal, { [name]: name });
      for (const prefix of ["", ...NAMES, "a/b/", "b"]) {
        assert.deepEqual(
          Object.keys(allOf(journal, prefix)),
          byBytes.filter((name) => name.startsWith(prefix)),
          `prefix ${JSON.stringify(prefix)}`,
        );
      }
    });

    test("a range shows what was there when it began, whatever is appended meanwhile", async (t) => {
      const journal = await open(t);
      for (let i = 0; i < 100; i++) await write(journal, { [`k${i + 100}`]: "old" });
      const seen: string[] = [];
      for (const [key, value] of journal.range("k")) {
        seen.push(Buffer.from(value).toString());
        await write(journal, { [key]: "new", [`${key}x`]: "new", k199: null });
      }
      assert.deepEqual(seen, Array(100).fill("old"));
    });

    test("refuses keys that cannot be stored, with all of their group, and goes on", async (t) => {
      const journal = await open(t);
      const value = Buffer.from("x");
      const most = "é".repeat(KEY_BYTES_MAX / 2);
      for (const key of ["", `${most}e`, "\ud800", "a\udc00b"]) {
        const group: Write[] = [
          { key: "fine", value },
          { key, value },
        ];
        refusedAtOnce(() => journal.append(group, () => assert.fail()), "HW-3008");
        refusedAtOnce(() => journal.get(key), "HW-3008");
      }
      assert.deepEqual(allOf(journal), {});
      await write(journal, { [most]: "as long as can be" });
      assert.equal(textOf(journal, most), "as long as can be");
    });

    test("waits for all that was appended when it is closed, and does nothing after that", async (t) => {
      const journal = await open(t);
      const settled: unknown[] = [];
      for (let i = 0; i < 10; i++) {
        journal.append([{ key: `k${i}`, value: Buffer.from("x") }], (error) => settled.push(error));
      }
      const closing = journal.close();
      const late = await outcome(journal, [{ key: "late", value: Buffer.from("x") }]);
      assert.ok(late instanceof HeadwaterError);
      assert.equal(late.code, "HW-3007");
      refusedAtOnce(() => journal.get("k1"), "HW-3007");
      refusedAtOnce(() => [...journal.range("")], "HW-3007");
      await closing;
      assert.deepEqual(settled, Array(10).fill(null));
      await journal.close();
    });

    for (const seed of [1, 2, 3, 4]) {
      test(`does what a plain map does, in a random run with seed ${seed}`, async (t) => {
        await compareWithModel(await open(t), new Random(seed));
      });
    }
  });
}

async function compareWithModel(journal: Journal, random: Random): Promise<void> {
  const model = new Map<string, string>();
  const prefixes = ["", "a/", "a/1", "b", "😀/", "\uffff"];
  const keyOf = () => `${random.pick(prefixes)}${random.pick(NAMES)}${random.int(60)}`;
  let waiting: Promise<void>[] = [];
  for (let step = 0; step < 1500; step++) {
    const doing = random.int(10);
    if (doing < 6) {
      const group = Array.from({ length: random.int(5) }, (): Write & { text: string | null } => {
        const text = random.chance(0.3)
          ? null
          : `${step}${"x".repeat(random.chance(0.02) ? 50_000 : random.int(40))}`;
        return { key: keyOf(), text, value: text === null ? null : Buffer.from(text) };
      });
      for (const { key, text } of group) {
        if (text === null) model.delete(key);
        else model.set(key, text);
      }
      waiting.push(outcome(journal, group).then((error) => assert.equal(error, null)));
    } else if (doing < 8) {
      const key = keyOf();
      assert.equal(textOf(journal, key), model.get(key), `step ${step}, key ${key}`);
    } else if (doing === 8) {
      const prefix = random.pick(prefixes);
      const expected = [...model]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => compareKeys(a, b));
      assert.deepEqual(
        [...journal.range(prefix)].map(([key, value]) => [key, Buffer.from(value).toString()]),
        expected,
        `step ${step}, prefix ${prefix}`,
      );
    } else {
      await (random.chance(0.5) ? Promise.all(waiting) : waiting[0]);
      waiting = random.chance(0.5) ? [] : waiting;
    }
  }
  await Promise.all(waiting);
}
