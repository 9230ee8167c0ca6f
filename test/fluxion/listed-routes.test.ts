import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { showPipeline } from "headwater/fluxion";
import { compileText, EXPRESS, stageNames } from "./compiling.js";

const HANDLER = "function handler(req, res) { res.send(String(req.query.a).repeat(3)); }\n";
const LIST = 'const routes = [["get", "/", handler]];\n';
const LOOP = "for (const [verb, path, answer] of routes) app[verb](path, answer);\n";
const stages = (text: string) => stageNames(compileText(`${EXPRESS}${HANDLER}${text}`));

describe("handlers of listed routes", () => {
  test("are known where all verbs are written in the list", () => {
    assert.deepEqual(stages(LIST + LOOP), ["handler"]);
    assert.deepEqual(
      stages(`${LIST}routes.forEach(([verb, path, answer]) => { app[verb](path, answer); });`),
      ["handler"],
    );
    const objects = 'const routes = [{ verb: "get", path: "/", answer: handler }];\n';
    assert.deepEqual(
      stages(`${objects}for (const { verb, path, answer } of routes) app[verb](path, answer);`),
      ["handler"],
    );
  });

  for (const [what, text] of [
    ["the list is changed", `${LIST}routes.push([process.argv[2], "/", handler]);\n${LOOP}`],
    ["an item may be changed", `${LIST}for (const route of routes) route[0] = process.argv[2];\n${LOOP}`],
    ["others get the list", `${LIST}module.exports = routes;\n${LOOP}`],
    ["a verb is not written there", `const routes = [[process.argv[2], "/", handler]];\n${LOOP}`],
    [
      "`forEach` gives the list itself",
      `${LIST}routes.forEach(([verb, path, answer], i, all) => { app[verb](path, answer); });`,
    ],
    [
      "the list has another list in it",
      `${LIST}const all = [...routes, ["get", "/b", handler]];\nfor (const [verb, path, answer] of all) app[verb](path, answer);`,
    ],
  ] as const) {
    test(`are not if ${what}`, () => assert.deepEqual(stages(text), []));
  }
});

describe("a program in which nothing can move says why", () => {
  const said = (text: string) => showPipeline(compileText(text).pipeline, "/");

  test("it loads code that only the running program can name", () => {
    assert.match(
      said('require(require("node:path").join(process.cwd(), process.argv[2]));'),
      /app\.cjs:1:1: it loads code by a name that is only known/,
    );
    assert.match(said("import(process.argv[2]);"), /it loads code by a name that is only known/);
  });

  test("it has no handlers", () => {
    assert.match(said("console.log(1);"), /No handler, listener or continuation was found/);
  });
});
