import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  compile,
  type Fluxion,
  fluxionsOf,
  interpret,
  parse,
  print,
  withDispatcher,
} from "headwater/fluxion";
import { ROOT } from "../house/source.js";
import { compileText, EXPRESS } from "./compiling.js";
import { expected } from "./programs/expected.js";

const LISTING_1 = join(ROOT, "examples", "fluxion", "counter.js");
const LISTING_3 = join(ROOT, "test", "fluxion", "listings", "gifsockets.js");
const FIGURE_5 = join(ROOT, "test", "fluxion", "listings", "figure-5.js");

/** What stands before the code of each fluxion. */
function headers(fluxions: readonly Fluxion[]): string[] {
  return print(fluxions.map((each) => ({ ...each, code: "" })))
    .split("\n")
    .filter((line) => line.trim() !== "");
}

describe("the paper's listings", () => {
  test("listing 1 becomes listing 2", () => {
    assert.equal(
      print(fluxionsOf(compile(LISTING_1).pipeline)),
      `flx main & grp_res
>> handler [res]
  var app = require('express')(),
    fs = require('fs'),
    count = 0;

  app.get('/', >> handler);

  app.listen(8080);

flx handler
-> reply [res]
  function handler(req, res){
    fs.readFile(__filename, -> reply);
  }

flx reply & grp_res {count, template}
-> null
  function reply(err, data) {
    count += 1;
    res.send(err || template(count, data));
  }
`,
    );
  });

  test("listing 3 becomes listing 4 if factories are left alone, as the paper's compiler did", () => {
    assert.equal(
      print(fluxionsOf(compile(LISTING_3, { inPlaceOnly: true }).pipeline)),
      `flx main & grp_req {req}
>> anonymous_1000 [req, next]
  var express = require('express'),
    app = express(),
    routes = require('gifsockets-middleware'),
    getRawBody = require('raw-body');

  function bodyParser(limit) {
    return function saveBody(req, res, next) {
      getRawBody(req, {
        expected: req.headers['content-length'],
        limit: limit
      }, >> anonymous_1000);
    };
  }

  app.post('/image/text', bodyParser(1 * 1024 * 1024),
    routes.writeTextToImages);
  app.listen(8000);

flx anonymous_1000
-> null
  function (err, buffer) {
    req.body = buffer;
    next();
  }
`,
    );
  });

  test("isolated, listing 4 becomes listing 5", () => {
    const { pipeline } = compile(LISTING_3, { inPlaceOnly: true });
    const [, ...others] = withDispatcher(fluxionsOf(pipeline), pipeline);
    assert.equal(
      print(others),
      `flx anonymous_1000
-> express_dispatcher
  function (err, buffer) {
    req.body = buffer;
    next_placeholder(req, -> express_dispatcher);
  }

flx express_dispatcher & grp_req {req}
-> null
  function (modified_req) {
    merge(req, modified_req);
    next();
  }
`,
    );
  });

  test("the listener that bodyParser returns is found, which the paper's compiler had to leave alone", () => {
    assert.deepEqual(headers(fluxionsOf(compile(LISTING_3).pipeline)), [
      "flx main & grp_req",
      ">> saveBody [req, limit]",
      "flx saveBody & grp_req",
      "-> anonymous_1000 [req, next]",
      "flx anonymous_1000",
      "-> null",
    ]);
  });

  test("figure 5: scope, stream and share", () => {
    assert.deepEqual(headers(fluxionsOf(compile(FIGURE_5).pipeline)), [
      "flx main",
      ">> onReq",
      "flx onReq {b}",
      "-> add [v, b]",
      "flx add & grp_c {a, c}",
      "-> end",
      "flx end & grp_c {c}",
      "-> null",
    ]);
  });
});

describe("the language", () => {
  const programs = Object.keys(expected).map((name) => join(ROOT, "test", "fluxion", "programs", name));
  for (const file of [LISTING_1, LISTING_3, FIGURE_5, ...programs]) {
    test(`what is printed of ${file.slice(ROOT.length)} is read back as it was`, () => {
      const fluxions = fluxionsOf(compile(file).pipeline);
      assert.deepEqual(parse(print(fluxions)), fluxions);
    });
  }

  for (const [wrong, what] of [
    ["flux main\n-> null\n", /line 1: a fluxion begins/],
    ["flx main\n  code();\n", /line 2: after its first line/],
    ["flx main\n-> null\ncode();\n", /line 3: the code of a fluxion is indented/],
    ["flx main\n-> other\n  code();\n", /sends to other, and there is no such fluxion/],
    ["flx a\n-> null\n  1\n\nflx a\n-> null\n  2\n", /two fluxions with the name a/],
  ] as const) {
    test(`${JSON.stringify(wrong)} is refused`, () => {
      assert.throws(() => parse(wrong), { code: "HW-7014", message: what });
    });
  }
});

describe("the interpreter", () => {
  const later = () => new Promise((resolve) => setImmediate(resolve));

  test("listing 2 answers as listing 1 does", async (t) => {
    const globals = { template: (count: number, data: Buffer) => `${count}: ${data.length}` };
    const text = readFileSync(LISTING_1, "utf8").replace("8080", "0");
    const plain = await answers(t, (around) => {
      const names = Object.keys({ ...around, ...globals });
      new Function(...names, text)(...Object.values({ ...around, ...globals }));
    });
    const printed = print(fluxionsOf(compile(LISTING_1).pipeline)).replace("8080", "0");
    const interpreted = await answers(t, (around) =>
      interpret(parse(printed), { globals: { ...around, ...globals } }),
    );
    assert.deepEqual(interpreted, plain);
    assert.match(plain[2] ?? "", /^3: \d+$/);
  });

  test("messages of one sender arrive in their order, and groups share their variables", async () => {
    const seen: string[] = [];
    const program = `flx main
>> first
>> second
  var count = 0;
  start(>> first);
  start(>> second);

flx first & grp_count {count}
-> null
  function first(n) { count += n; log('first ' + count); }

flx second & grp_count {count}
-> null
  function second(n) { count *= 10; log('second ' + count); }
`;
    const start = (listener: (n: number) => void) => {
      listener(1);
      listener(2);
    };
    interpret(parse(program), { globals: { start, log: (text: string) => seen.push(text) } });
    assert.deepEqual(seen, [], "messages wait for the event loop");
    for (let i = 0; i < 4; i++) await later();
    assert.deepEqual(seen, ["first 1", "first 3", "second 30", "second 300"]);
  });

  test("a fluxion has nothing of another but what the message brings", async () => {
    const errors: string[] = [];
    const { pipeline } = compileText(
      `${EXPRESS}start(function a(n) {\n  const kept = n + 1;\n  fs.readFile(__filename, function b() { log(kept); });\n});`.replace(
        "start(",
        "/* headwater: start */ start(",
      ),
    );
    const fluxions = fluxionsOf(pipeline).map((each) => ({
      ...each,
      streams: each.streams.map((stream) => ({ ...stream, message: [] })), // as if the compiler had forgotten it
    }));
    const globals = {
      require: () => Object.assign(() => null, { readFile: (_: string, then: () => void) => then() }),
      start: (listener: (n: number) => void) => listener(1),
      log: (value: unknown) => errors.push(String(value)),
      __filename: "",
    };
    const deliveries: (() => void)[] = [];
    interpret(fluxions, { globals, later: (deliver) => deliveries.push(deliver) });
    deliveries.shift()?.();
    assert.throws(() => deliveries.shift()?.(), /kept is not defined/);
    assert.deepEqual(errors, []);
  });
});

type Around = { require: NodeJS.Require; __filename: string };

/** Three answers of a server that a program starts. */
async function answers(
  t: { after(end: () => void): void },
  run: (around: Around) => void,
): Promise<string[]> {
  const real = createRequire(LISTING_1);
  const servers: Server[] = [];
  const require = ((name: string) => {
    if (name !== "express") return real(name);
    return () => {
      const app = real("express")();
      const { listen } = app;
      app.listen = (...args: unknown[]) => {
        const server = listen.apply(app, args) as Server;
        servers.push(server);
        return server;
      };
      return app;
    };
  }) as NodeJS.Require;
  run({ require, __filename: LISTING_1 });
  const [server] = servers;
  assert.ok(server);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const found: string[] = [];
  for (let i = 0; i < 3; i++) found.push(await (await fetch(`http://localhost:${port}/`)).text());
  return found;
}
