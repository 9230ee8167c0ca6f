import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "../cli/headwater.js";
import { compiled, plain } from "./both-ways.js";

const folder = join(ROOT, "examples", "fluxion");
const requests = JSON.parse(readFileSync(join(folder, "requests.json"), "utf8")) as Record<string, string[]>;

/** What runs in workers, of each. */
const isolates: Readonly<Record<string, readonly string[]>> = {
  "markdown-server": ["markdown.render"],
  gifsockets: ["parsed", "textToFrame"],
  "qr-server": ["QRCode.toString", "QRCode.toBuffer"],
  "password-server": ["bcrypt.hash", "bcrypt.compare", "deriveKey"],
  "json-store": ["report"],
};

describe("whole programs run as before when their stages run in workers", { concurrency: 2 }, () => {
  for (const [name, stagesExpected] of Object.entries(isolates)) {
    test(name, async () => {
      const asked = {
        file: join(folder, name, "index.js"),
        requests: requests[name] ?? [],
        alone: true,
        env: { ROUNDS: "4" },
      };
      const [before, { stages, ...after }] = await Promise.all([plain(asked), compiled(asked)]);
      assert.deepEqual(after, before);
      const moved = stages.filter(({ inWorkers }) => inWorkers > 0).map((each) => each.name);
      assert.deepEqual(
        stagesExpected.filter((each) => !moved.includes(each)),
        [],
        `these ran in workers: ${moved.join(", ")}`,
      );
    });
  }
});
