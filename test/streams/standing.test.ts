import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell } from "#src/streams/columns/index.js";
import { type Plan, pruned } from "#src/streams/plan/index.js";
import fc from "../properties.js";
import { naive } from "./naive.js";
import { plan, row, TABLE } from "./random-plans.js";
import { changelog, histories, Multiset, Running, stream } from "./standing.js";

/** Operators that run as standing ones. */
const STANDING = new Set<Plan["kind"]>(["scan", "step", "union", "aggregate", "join"]);

function kinds(of: Plan): Plan["kind"][] {
  switch (of.kind) {
    case "scan":
    case "unit":
      return [of.kind];
    case "join":
      return [of.kind, ...kinds(of.left), ...kinds(of.right)];
    case "union":
      return [of.kind, ...of.inputs.flatMap(kinds)];
    default:
      return [of.kind, ...kinds(of.input)];
  }
}

const standing = plan.filter((of) => kinds(of).every((kind) => STANDING.has(kind)));

function check(isChangelog: boolean, numRuns: number): void {
  const history = histories({ r: { row, retracts: isChangelog } });
  fc.assert(
    fc.property(standing, history, (of, steps) => {
      const input = isChangelog ? changelog(TABLE) : stream(TABLE);
      const running = new Running(of, { emit: "changes", inputs: { r: input } });
      const present: (readonly Cell[])[] = [];
      for (const step of [...steps, "flush" as const]) {
        if (step === "checkpoint" || step === "restart" || step === "flush") {
          running.query.flush();
          if (step === "checkpoint") running.checkpoint();
          if (step === "restart") running.restart();
          const expected = new Multiset();
          for (const each of naive(pruned(of), { r: present }).rows) expected.put(each);
          assert.deepEqual(running.results.rows, expected.rows);
          continue;
        }
        running.push(step, TABLE);
        for (const [i, each] of step.rows.entries()) {
          if (step.weights[i] === 1) present.push(each);
          else present.splice(present.indexOf(each), 1);
        }
      }
    }),
    { numRuns },
  );
}

test("the changes of a standing query over a stream add up to the answer over all rows so far", () => {
  check(false, 500);
});

test("and so they do when rows are taken back, and when the query goes on from a checkpoint", () => {
  check(true, 500);
});
