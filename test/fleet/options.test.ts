import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { describe, test } from "node:test";
import { type Code, hostsOf, run } from "headwater";
import { hostsIn } from "#src/cli/hosts-option.js";
import { refused } from "../refused.js";
import Bank from "./programs/bank.js";

const module = new URL("./programs/bank.ts", import.meta.url).href;
const HOSTS = "whole number from 1 to 256";

describe("options about hosts that make no sense are refused by name, with what was given and what may be", () => {
  const wrong: readonly (readonly [options: object, code: Code, ...says: string[]])[] = [
    [{ hosts: 1e6 }, "HW-6002", "`hosts`", "1000000", HOSTS],
    [{ hosts: 257 }, "HW-6002", "`hosts`", "257", HOSTS],
    [{ hosts: 0 }, "HW-6002", "`hosts`", HOSTS],
    [{ hosts: 1.5 }, "HW-6002", "`hosts`", HOSTS],
    [{ hosts: null }, "HW-6002", "`hosts`", "null", HOSTS],
    [{ hosts: "2" }, "HW-6002", "`hosts`", '"2"', HOSTS, '"cores"'],
    [{ hosts: [1, 4] }, "HW-6002", "`hosts`", "{ min: 1, max: 4 }"],
    [{ hosts: 2, hostHeapMb: -1 }, "HW-6002", "`hostHeapMb`", "-1", "megabytes"],
    [{ hosts: 2, hostHeapMb: "x" }, "HW-6002", "`hostHeapMb`", '"x"', "megabytes"],
    [{ hosts: 2, hostsAs: "thread" }, "HW-6002", "`hostsAs`", '"thread"', '"threads" or "processes"'],
    [{ hosts: 2, slowEventMs: "5" }, "HW-6002", "`slowEventMs`", '"5"', "milliseconds"],
    [{ hosts: 2, eventTimeoutMs: 0 }, "HW-6002", "`eventTimeoutMs`", "0", "milliseconds"],
    [{ hosts: 2, hostTimeoutMs: Number.NaN }, "HW-6002", "`hostTimeoutMs`", "NaN"],
    [{ hosts: 2, hostStartTimeoutMs: -1 }, "HW-6002", "`hostStartTimeoutMs`", "-1"],
    [{ slowEventMs: "5" }, "HW-6002", "`slowEventMs`"],
    [{ hosts: { max: 1000 } }, "HW-6002", "`hosts.max`", "1000", "256"],
    [{ hosts: { min: 4, max: 2 } }, "HW-6021", "max is 2", "at least 4"],
    [{ hosts: { max: 2, keep: { utilisation: [30, 70] } } }, "HW-6021", "[30,70]", "between 0 and 1"],
    [{ hosts: { max: 2, keep: { utilisation: [0.7, 0.3] } } }, "HW-6021", "[0.7,0.3]", "lower one first"],
    [{ hosts: { max: 2, keep: { utilisation: ["0.3", "0.7"] } } }, "HW-6021", "two numbers"],
  ];
  for (const [options, code, ...says] of wrong) {
    test(JSON.stringify(options), () => refused(run(Bank, { module, ...options }), code, ...says));
  }
});

test("a program that wants all cores gets a host for each", async () => {
  await using service = await run(Bank, { hosts: "cores", hostsAs: "processes", module });
  const cores = availableParallelism();
  assert.equal(hostsOf(service).list().length, cores);
  assert.deepEqual(hostsIn("cores"), { min: cores, max: cores });
});
