import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { numericText, type Scaled, type Schema, timestampText } from "#src/streams/columns/index.js";
import { standingQuery, startQuery } from "#src/streams/operators/index.js";
import { planDefinition, planQuery, stateLimitOf, withLimitedState } from "#src/streams/sql/index.js";
import { stream } from "../streams/standing.js";

const page = readFileSync(new URL("../../docs/sql.md", import.meta.url), "utf8");

/** What a value is as text, without the zeros at the end of a decimal that the page does not write. */
async function answer(expression: string): Promise<string> {
  const plan = await planQuery(`select ${expression} as p`, {});
  const values: string[] = [];
  const query = startQuery(plan, (batch) => {
    const [cell] = batch.row(0);
    const spec = plan.columns[0];
    values.push(
      spec?.type === "numeric"
        ? numericText(cell as Scaled, spec.scale)
        : spec?.type === "timestamp"
          ? timestampText(cell as number)
          : String(cell),
    );
  });
  query.end();
  assert.equal(query.errors.first, null, expression);
  return values.join();
}

test("the examples of expressions give what the page says", async () => {
  const rows = [...page.matchAll(/^\| `([^`]+)` +\| `([^`]*)` +\|$/gm)];
  assert.ok(rows.length > 20, `${rows.length} examples`);
  for (const [, expression = "", expected = ""] of rows) {
    const found = await answer(expression);
    const isNumber = /^-?\d+(\.\d+)?$/.test(expected);
    if (isNumber) assert.equal(Number(found), Number(expected), expression);
    else assert.equal(found, expected, expression);
  }
});

test("the statements of the page can be registered, and both spellings of a window are one plan", async () => {
  const tables: Record<string, Schema> = {};
  const keys = new Set<string>();
  const blocks = [...page.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  assert.ok(blocks.length > 8);
  for (const text of blocks) {
    const defined = await planDefinition(text, tables);
    if (!("plan" in defined)) {
      tables[defined.name] = defined.columns;
      if (defined.key.length > 0) keys.add(defined.name);
    } else {
      const inputs = Object.fromEntries(
        Object.entries(tables).map(([name, schema]) => {
          const at = schema.findIndex((spec) => spec.name === "at");
          const isTable = keys.has(name);
          const key = isTable ? [0] : [];
          const kind = isTable ? ("table" as const) : ("stream" as const);
          return [name, { ...stream(schema, at < 0 ? null : at), kind, key }];
        }),
      );
      const consumer = { rows: () => {}, watermark: () => {} };
      const limit = stateLimitOf(defined.options.state_retention);
      const { refusal, ...limited } = withLimitedState(defined.plan, inputs, defined.resolved, limit);
      assert.equal(refusal, null);
      const emit = defined.resolved.emit ?? "changes";
      standingQuery(limited.plan, { emit, inputs: limited.inputs }, consumer).flush();
    }
  }
  const spellings = [
    ...page.matchAll(/^\| `(?:TUMBLE|HOP|CUMULATE|SESSION)` +\| `([^`]+)` +\| `([^`]+)` +\|$/gm),
  ];
  assert.equal(spellings.length, 4);
  for (const [, one = "", other = ""] of spellings) {
    const [a, b] = await Promise.all(
      [one, other].map((from) => planQuery(`select auction, window_end from ${from}`, tables)),
    );
    assert.equal(withoutPlaces(a), withoutPlaces(b));
  }
});

/** A plan without the places of its words in the text. */
function withoutPlaces(plan: unknown): string {
  return JSON.stringify(plan, (key, value: unknown) => (key === "span" ? undefined : value));
}
