import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { standingQuery } from "#src/streams/operators/index.js";
import { planDefinition } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { stream } from "../streams/standing.js";
import { anyText } from "./grammar.js";
import { SCHEMA } from "./standing.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 1500);

/** The errors that a text can cause: syntax, not supported, no such name, no sense; and options and names of definitions. */
const CODES = /^HW-(510[1-4]|54\d\d)$/;

test("any text is run, or refused with a code and a place inside it", async () => {
  const counts = { ran: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      try {
        const defined = await planDefinition(text, { t0: SCHEMA, u0: SCHEMA });
        if ("plan" in defined) {
          const inputs = { t0: stream(SCHEMA, 8), u0: stream(SCHEMA, 8) };
          const query = standingQuery(
            defined.plan,
            { emit: defined.resolved.emit ?? "changes", inputs },
            { rows: () => {}, watermark: () => {} },
          );
          query.flush();
        }
        counts.ran++;
      } catch (error) {
        assert.ok(
          error instanceof HeadwaterError,
          `${text}\n${error instanceof Error ? error.stack : error}`,
        );
        assert.match(error.code, CODES, `${text}\n${error.message}`);
        const place = /line (\d+), column (\d+)/.exec(error.message);
        const lines = text.split("\n");
        if (!error.message.includes("The query is empty")) {
          assert.ok(place !== null, `no place: ${text}\n${error.message}`);
          const line = lines[Number(place[1]) - 1];
          assert.ok(line !== undefined && Number(place[2]) <= line.length + 1, `${text}\n${error.message}`);
        }
        counts.refused++;
      }
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
  assert.ok(counts.ran > RUNS / 100 && counts.refused > RUNS / 4, JSON.stringify(counts));
});
