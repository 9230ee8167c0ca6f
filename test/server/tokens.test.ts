import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { ServeOptions } from "headwater";
import { refused } from "../refused.js";
import { started } from "./town.js";

/** A token is good until it expires or is unknown, for open connections, too. */

type Tokens = NonNullable<ServeOptions["tokens"]>;

const START = Date.now();
const LIFE_MS = 3_600_000;
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

/** Ways to let eve in until a moment: by the clock, or because a function says so. `end` is that moment. */
const KINDS: Readonly<Record<string, (clock: { ms: number }) => { tokens: Tokens; end: () => void }>> = {
  "a hash with a time": (clock) => ({
    tokens: { eve: { hash: hashOf("eve"), expires: START + LIFE_MS }, ada: hashOf("ada") },
    end: () => {
      clock.ms = START + LIFE_MS;
    },
  }),
  "a function that gives a time": (clock) => ({
    tokens: (token) => ({ name: token, ...(token === "eve" ? { expires: new Date(START + LIFE_MS) } : {}) }),
    end: () => {
      clock.ms = START + LIFE_MS;
    },
  }),
  "a function that does not know it any more": () => {
    let isKnown = true;
    const tokens: Tokens = async (token) => (token === "eve" && !isKnown ? null : token);
    const end = () => {
      isKnown = false;
    };
    return { tokens, end };
  },
};

for (const [kind, make] of Object.entries(KINDS)) {
  test(`a socket does not outlive its token: ${kind}`, async (t) => {
    const clock = { ms: START };
    t.mock.method(Date, "now", () => clock.ms);
    const { tokens, end } = make(clock);
    const { client, post, log } = await started(t, { tokens, limits: { tokenMs: 1 } });
    const [eve, ada] = [client({ token: "eve" }), client({ token: "ada" })];
    assert.equal(await eve.api.bump("eve", 1), 1);
    assert.equal(await ada.api.bump("ada", 1), 1);
    end();
    assert.equal((await eve.closed)?.code, "HW-4041");
    assert.equal(await ada.api.bump("ada", 1), 2, "others go on");
    const again = await post("bump", ["eve", 1], { authorization: "Bearer eve" });
    assert.equal(again.status, 401);
    const renewed = client({ token: "eve" });
    assert.match(String((await renewed.closed)?.code), /^HW-40(41|10)$/);
    assert.equal(await ada.api.read("eve"), 1);
    assert.ok(log.some((line) => line.includes("HW-4041")));
  });
}

test("a function that fails for a while ends no connection that is open", async (t) => {
  let asked = 0;
  let isAway = false;
  const tokens: Tokens = (token) => {
    asked += 1;
    if (isAway) throw new Error("the database is away");
    return token;
  };
  const { client } = await started(t, { tokens, limits: { tokenMs: 1 } });
  const ada = client({ token: "ada" });
  assert.equal(await ada.api.bump("ada", 1), 1);
  isAway = true;
  for (const before = asked; asked < before + 5; ) await ada.api.bump("ada", 1);
  assert.equal(ada.state, "open");
});

test("a time that is none is refused when the server starts", async (t) => {
  const tokens = { eve: { hash: hashOf("eve"), expires: Number.NaN } };
  await refused(started(t, { tokens }), "HW-4020", "eve");
});
