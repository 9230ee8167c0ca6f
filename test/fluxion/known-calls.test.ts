import assert from "node:assert/strict";
import { test } from "node:test";
import { fluxionsOf } from "headwater/fluxion";
import { codesFor, compileText, EXPRESS } from "./compiling.js";

function handler(awaited: string, before = ""): string {
  return `${before}${EXPRESS}
app.get("/", async function show(req, res) {
  const found = await ${awaited};
  res.json({ found });
});
app.listen(0);`;
}

function partsOf(text: string): string[] {
  return fluxionsOf(compileText(text).pipeline).map(({ name }) => name);
}

const CUT: Readonly<Record<string, string>> = {
  fetch: handler("fetch(req.query.url)"),
  "dns/promises": handler("dns.lookup(req.query.name)", 'const dns = require("node:dns/promises");'),
  "dns.promises": handler("dns.promises.resolve4(req.query.name)", 'const dns = require("dns");'),
};

for (const [name, text] of Object.entries(CUT)) {
  test(`${name}: what follows its await is a fluxion of its own, and it stays on the main loop`, () => {
    assert.deepEqual(partsOf(text), ["main", "show", "show_2"]);
    assert.deepEqual(codesFor(compileText(text), "show"), ["HW-7009"]);
  });
}

const OTHER: Readonly<Record<string, string>> = {
  "a function of the file": handler("fetch(req.query.url)", "async function fetch(url) { return url; }\n"),
  "a package": handler("fetch(req.query.url)", 'const fetch = require("own-fetch");\n'),
};

for (const [name, text] of Object.entries(OTHER)) {
  test(`${name} that is called fetch is not taken for Node's`, () => {
    assert.deepEqual(partsOf(text), ["main", "show"]);
  });
}
