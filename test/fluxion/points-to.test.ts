import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Knowledge } from "#src/fluxion/callees/knowledge.js";
import { Engine } from "#src/fluxion/points-to/engine.js";
import { readProgram } from "#src/fluxion/source/program.js";
import { ROOT } from "../house/source.js";

/** Looks at a program whose functions are gone through in the order of the text. */
function lookedAt(text: string, files: Readonly<Record<string, string>> = {}) {
  const at = (file: string) => `${ROOT}.cache/texts/${file}`;
  const texts = new Map(
    Object.entries({ ...files, "app.cjs": text }).map(([file, each]) => [at(file), each]),
  );
  const program = readProgram(at("app.cjs"), { texts });
  const engine = new Engine({ program, knowledge: new Knowledge({}), roles: new Map(), root: null });
  for (const module of program.modules.values()) {
    engine.enter(module.syntax);
    for (const node of module.functions) engine.enter(node);
  }
  engine.run();
  const bodyOf = (name: string) => {
    const found = [...engine.bodies.values()].find(({ body }) => "id" in body && body.id?.name === name);
    assert.ok(found, name);
    return found;
  };
  return {
    /** What a function gives back: kinds, and the text of objects. */
    returns(name: string): string[] {
      return [...engine.returned(bodyOf(name).body)].map((thing) =>
        thing.kind === "site"
          ? engine.moduleOf(thing.node).text.slice(thing.node.start, thing.node.end)
          : thing.kind,
      );
    },
    codes(name: string): string[] {
      return [...bodyOf(name).facts.values()].map(({ code }) => code);
    },
  };
}

describe("what a later function does is known to an earlier one", () => {
  const late: Readonly<Record<string, string>> = {
    "a variable": "let held; function early() { return held; } function late() { held = {}; }",
    "what a function gives back":
      "function early() { return middle(); } function middle() { return last(); } function last() { return {}; }",
    "a field":
      "const box = []; function early() { return box[0].a.b; } function late() { box.push({ a: { b: {} } }); }",
    "what is in a collection":
      "const box = new Map(); function early() { for (const each of box) return each; } function late() { box.set(1, {}); }",
    "`this`":
      "const a = { early: function early() { return this.held; } }; const b = []; a.early(); function late() { b.held = {}; a.early.call(b); }",
    "what a function is called with": "function early(held) { return held; } function late() { early({}); }",
    "a default in a pattern":
      "let held; function early({ a = held }) { return a; } early([]); function late() { held = {}; }",
    "what a promise resolves to":
      "let go; const held = new Promise((resolve) => { go = resolve; }); async function early() { return await held; } function late() { go({}); }",
  };
  for (const [name, text] of Object.entries(late)) {
    test(name, () => {
      const found = lookedAt(text).returns("early");
      assert.ok(found.includes("{}"), found.join());
    });
  }

  test("what another file exports", () => {
    const { returns } = lookedAt('const b = require("./b.cjs"); function early() { return b.held(); }', {
      "b.cjs": "exports.held = function () { return last(); }; function last() { return {}; }",
    });
    assert.deepEqual(returns("early"), ["{}"]);
  });

  test("a method that a thing did not have", () => {
    const { returns } = lookedAt(
      "const box = []; function early() { return box.join(); } function late() { box.join = () => ({}); }",
    );
    assert.deepEqual(returns("early"), ["{}"]);
  });

  test("what is found deep in something that is given away", () => {
    const { codes } = lookedAt(
      "const box = { a: {} }; function early() { console.log(box); } function late() { box.a.b = () => 1; }",
    );
    assert.deepEqual(codes("early"), ["HW-7006"]);
  });

  test("what nothing is known of", () => {
    const { returns, codes } = lookedAt(
      "let held; function early() { return held.a; } function late() { held = nobody(); }",
    );
    assert.deepEqual(returns("early"), ["data"]);
    assert.ok(codes("late").includes("HW-7004"));
  });
});
