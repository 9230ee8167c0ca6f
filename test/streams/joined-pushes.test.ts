import assert from "node:assert/strict";
import { test } from "node:test";
import { openStreams } from "headwater/streams";
import fc from "../properties.js";

interface Pushed {
  readonly stream: "plain" | "ids" | "sealed";
  /** Its rows: few that may share a batch with others, many, or none. */
  readonly values: readonly number[];
  readonly as: "rows" | "lines";
  readonly producer: boolean;
}

const PUSHED: fc.Arbitrary<Pushed> = fc.record({
  stream: fc.constantFrom("plain", "plain", "plain", "ids", "sealed"),
  values: fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fc.nat(), { minLength: 60, maxLength: 70 }) },
  ),
  as: fc.constantFrom("rows", "lines"),
  producer: fc.boolean(),
});

/** What one caller is told of all rows of a stream, by a naive stream that takes pushes one at a time. */
class Naive {
  readonly rows: number[] = [];
  readonly #seen = new Set<number>();

  constructor(readonly hasIds: boolean) {}

  push(values: readonly number[]) {
    const first = this.rows.length + 1;
    const fresh = values.filter((value) => !this.hasIds || !this.#seen.has(value));
    const own = this.hasIds ? [...new Set(fresh)] : fresh;
    for (const value of own) this.#seen.add(value);
    this.rows.push(...own);
    return { first, rows: own.length, duplicates: values.length - own.length, isRepeated: false };
  }
}

test("pushes that share a batch get the answers that they would get one at a time, and the same rows are there", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(PUSHED, { minLength: 2, maxLength: 30 }), async (pushes) => {
      const streams = await openStreams();
      try {
        await streams.registerStream("plain", { n: "bigint", who: "text" });
        await streams.registerStream("ids", { n: "bigint", who: "text" }, { eventId: { column: "n" } });
        const seals = { columns: ["who"], producers: ["p"] };
        await streams.registerStream("sealed", { n: "bigint", who: "text" }, { seals });
        await streams.registerQuery("odd", "SELECT n FROM plain WHERE n % 2 = 1");
        const naive = { plain: new Naive(false), ids: new Naive(true), sealed: new Naive(false) };
        const asked = pushes.map(({ stream, values, as, producer }) => {
          const rows = values.map((n) => ({ n, who: `user ${n % 3}` }));
          const options = producer || stream === "sealed" ? { producer: "p" } : {};
          return as === "rows"
            ? streams.pushEvents(stream, rows, options)
            : streams.pushNdjson(
                stream,
                Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")),
                options,
              );
        });
        const answers = await Promise.all(asked);
        assert.deepEqual(
          answers,
          pushes.map(({ stream, values }) => naive[stream].push(values)),
        );
        for (const name of ["plain", "ids", "sealed"] as const) {
          const { rows } = await streams.page(name, 1);
          assert.deepEqual(
            rows.map(({ number, json }) => [number, (JSON.parse(json) as { n: number }).n]),
            naive[name].rows.map((n, i) => [i + 1, n]),
          );
        }
        const { rows } = await streams.page("odd", 1);
        assert.deepEqual(
          rows.map(({ json }) => (JSON.parse(json) as { n: number }).n),
          naive.plain.rows.filter((n) => n % 2 === 1),
        );
      } finally {
        await streams.service.close();
      }
    }),
    { numRuns: 40 },
  );
});
