import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compile } from "#src/fluxion/index.js";
import { expected } from "./programs/expected.js";

const folder = new URL("./programs/", import.meta.url);

describe("what the compiler makes of a program", () => {
  for (const [name, { isolates = [], refuses = {} }] of Object.entries(expected)) {
    test(name, () => {
      const { stages, diagnostics } = compile(fileURLToPath(new URL(name, folder))).pipeline;
      const found = stages.map((stage) => stage.name);
      for (const each of isolates)
        assert.ok(found.includes(each), `${each} is no stage, only ${found.join(", ")}`);
      for (const [part, reason] of Object.entries(refuses)) {
        assert.ok(!found.includes(part), `${part} is a stage`);
        const reasons = diagnostics.filter(({ subject }) => subject === part).map((each) => each.reason);
        assert.match(reasons.join("\n"), reason);
      }
    });
  }
});
