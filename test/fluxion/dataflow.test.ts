import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compile, dataflowOf, type Pipeline } from "headwater/fluxion";
import { analyze } from "#src/analysis/index.js";
import { ROOT } from "../house/source.js";
import { compileText, EXPRESS } from "./compiling.js";
import { expected } from "./programs/expected.js";

const EXAMPLES = join(ROOT, "examples", "fluxion");
const open = (pipeline: Pipeline) => analyze(dataflowOf(pipeline)).open.map(({ stream }) => stream.name);

describe("what the compiler moves needs no more coordination than before", () => {
  const examples = readdirSync(EXAMPLES).map((name) =>
    name.endsWith(".js") ? join(EXAMPLES, name) : join(EXAMPLES, name, "index.js"),
  );
  const programs = Object.keys(expected).map((name) => join(ROOT, "test", "fluxion", "programs", name));
  for (const file of [...examples.filter((each) => existsSync(each)), ...programs]) {
    test(file.slice(ROOT.length), () => assert.deepEqual(open(compile(file).pipeline), []));
  }
});

describe("a part that is moved with its state", () => {
  const { pipeline } = compileText(`${EXPRESS}let hits = 0;
app.get("/count", function count(req, res) { hits++; res.end(); });
app.get("/show", function show(req, res) { res.json(hits); });`);
  const stages = (name: string, inputs: readonly string[]) => {
    const [any] = pipeline.stages;
    const place = pipeline.parts.find((part) => part.name === name)?.place;
    assert.ok(any !== undefined && place !== undefined);
    return [{ ...any, name, place, inputs }];
  };

  test("has none if it only looks at it, and is sent it", () => {
    assert.deepEqual(
      pipeline.stages.map(({ name, inputs }) => [name, inputs]),
      [["show", ["hits"]]],
    );
    assert.deepEqual(open(pipeline), []);
  });

  test("diverges if it writes it", () => {
    assert.deepEqual(open({ ...pipeline, stages: stages("count", ["hits"]) }), ["effects of count"]);
  });

  test("diverges if it is not sent it", () => {
    assert.deepEqual(open({ ...pipeline, stages: stages("show", []) }), ["effects of show"]);
  });
});
