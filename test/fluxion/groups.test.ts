import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fluxionsOf, interpret, parse, print } from "headwater/fluxion";
import { compileText, EXPRESS } from "./compiling.js";

describe("two variables of one name", () => {
  const text = `${EXPRESS}app.get("/a", function a(req, res) {
  fs.readFile("a", function first(err, data) { res.locals.x = 1; res.send(data); });
});
app.get("/b", function b(req, res) {
  fs.readFile("b", function second(err, data) { res.locals.x = 1; res.send(data); });
});
`;

  test("have two groups with two names, which are read back", () => {
    const fluxions = fluxionsOf(compileText(text).pipeline);
    assert.deepEqual(
      fluxions.map(({ name, groups }) => [name, groups]),
      [
        ["main", ["grp_res", "grp_res_2"]],
        ["a", []],
        ["first", ["grp_res"]],
        ["b", []],
        ["second", ["grp_res_2"]],
      ],
    );
    assert.deepEqual(parse(print(fluxions)), fluxions);
    assert.deepEqual(
      compileText(text).pipeline.groups.map(({ name, parts: members }) => [name, members]),
      [
        ["grp_res", ["main", "first"]],
        ["grp_res_2", ["main", "second"]],
      ],
    );
  });

  test("do not take the name that another variable's group has", () => {
    const renamed = text
      .replaceAll("b(req, res)", "b(req, res, res_2)")
      .replace("res.send(data); });\n});\n`", "");
    const third = `app.get("/c", function c(req, res_2) {
  fs.readFile("c", function third(err, data) { res_2.locals.x = 1; res_2.send(data); });
});
`;
    const { groups } = compileText(renamed + third).pipeline;
    const names = groups.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      groups.map(({ name, variables }) => [name, ...variables]),
      [
        ["grp_res", "res"],
        ["grp_res_3", "res"],
        ["grp_res_2", "res_2"],
      ],
    );
  });

  test("are two in the interpreter", () => {
    const log: unknown[] = [];
    const printed = `flx main
>> a
>> b
>> c
  var count = 1;
  start(>> a, >> b, >> c);

flx a & grp_count {count}
-> null
  function a() { count += 1; log('a ' + count); }

flx b & grp_count_2 {count}
-> null
  function b() { count += 10; log('b ' + count); }

flx c & grp_count_2 {count}
-> null
  function c() { count += 100; log('c ' + count); }
`;
    const start = (...listeners: (() => void)[]) =>
      [...listeners, ...listeners].forEach((each) => void queue.push(each));
    const queue: (() => void)[] = [];
    const globals = { start, log: (text: string) => log.push(text) };
    interpret(parse(printed), { globals, later: (deliver) => deliver() });
    for (const each of queue) each();
    assert.deepEqual(log, ["a 2", "b 11", "c 111", "a 3", "b 121", "c 221"]);
  });
});
