import assert from "node:assert/strict";
import { createRequire } from "node:module";
import type { AddressInfo, Server } from "node:net";
import { describe, test } from "node:test";
import { fluxionsOf, interpret, parse, print } from "headwater/fluxion";
import { compileText, EXPRESS } from "./compiling.js";

const require = createRequire(import.meta.url);

function interpreted(text: string, globals: Record<string, unknown>): void {
  const printed = print(fluxionsOf(compileText(text).pipeline));
  interpret(parse(printed), { globals: { require, Promise, String, ...globals } });
}

describe("listeners of an interpreted program say how many parameters they have", () => {
  for (const [parameters, length] of [
    ["", 0],
    ["a", 1],
    ["a, b", 2],
    ["a, b, c", 3],
    ["err, req, res, next", 4],
    ["a, b = 1, c", 1],
    ["a, ...rest", 1],
    ["{ a, b }, [c]", 2],
  ] as const) {
    test(`(${parameters})`, () => {
      const found: number[] = [];
      const take = (listener: (...args: unknown[]) => unknown) => found.push(listener.length);
      const text = `/* headwater: start */ take(function one(${parameters}) { return 8 >> shift; });
/* headwater: start */ take(async (${parameters}) => {});
/* headwater: start */ take(function two() {});`;
      interpreted(text, { take, shift: 1 });
      assert.deepEqual(found, [length, length, 0]);
    });
  }

  test("so that Express finds the one for errors", async (t) => {
    const listening = new Promise<Server>((resolve) => {
      const listens = (made: Server) => made.on("listening", () => resolve(made));
      interpreted(
        `${EXPRESS}app.get("/e", async function bad(req, res) { const t = await fs.promises.readFile("/nonexistent"); res.send(t); });
app.use(function onErr(err, req, res, next) { res.status(500).send(err.code); });
listens(app.listen(0));`,
        { listens },
      );
    });
    const server = await listening;
    t.after(() => server.close());
    const answer = await fetch(`http://localhost:${(server.address() as AddressInfo).port}/e`);
    assert.deepEqual([answer.status, await answer.text()], [500, "ENOENT"]);
  });
});
