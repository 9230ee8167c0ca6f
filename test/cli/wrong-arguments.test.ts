import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { commands } from "#src/cli/commands.js";
import { details, overview } from "#src/cli/help.js";
import { headwater } from "./headwater.js";

/** Whatever is wrong with a command line, every command refuses it in the same way, before it does anything. */

const WIDTH = 80;
const NUMBER = /^(N|MB|MS|SECONDS)$/;
/** These take more than numbers: `--history 10m`. */
const NUMBERS = ["x", "-1", "", "1.5.2", "0x", "1e99"];
/** Names of things that are not there are refused as such: test/cli/absent.test.ts. */
const ABSENT = "absent";

interface Wrong {
  readonly why: string;
  readonly line: readonly string[];
}

function* wrongLines(): Iterable<Wrong> {
  for (const { name, operands, options, passesOn } of commands) {
    const words = operands.map((operand) => (operand.includes("|") ? (operand.split("|")[0] ?? "") : ABSENT));
    const required = operands.filter((operand) => !operand.startsWith("[")).length;
    yield { why: "an unknown option", line: [name, ...words.slice(0, required), "--nonesuch"] };
    yield { why: "an unknown short option", line: [name, ...words.slice(0, required), "-z"] };
    yield { why: "a word too many", line: [name, ...words, "more"] };
    yield { why: "a flag with a value", line: [name, ...words.slice(0, required), "--json=yes"] };
    if (required > 0) yield { why: "a missing operand", line: [name, ...words.slice(0, required - 1)] };
    if (passesOn !== true && required === operands.length)
      yield { why: "a word too many behind --", line: [name, ...words, "--", "more"] };
    for (const [option, { value }] of Object.entries(options)) {
      if (value === undefined) {
        yield { why: `--${option} with a value`, line: [name, ...words.slice(0, required), `--${option}=1`] };
        continue;
      }
      yield { why: `--${option} without a value`, line: [name, ...words.slice(0, required), `--${option}`] };
      yield {
        why: `--${option} before another option`,
        line: [name, ...words.slice(0, required), `--${option}`, "--json"],
      };
    }
  }
}

describe("a command line that is wrong is refused with HW-2001 and the exit code 2", () => {
  for (const { name } of commands) {
    test(`headwater ${name}`, async () => {
      const wrong = [...wrongLines()].filter(({ line }) => line[0] === name);
      assert.ok(wrong.length >= 4);
      for (const { why, line } of wrong) {
        const { exitCode, stdout, stderr } = await headwater(...line);
        const what = `${why}: ${line.join(" ")}`;
        assert.match(stderr, /^error HW-2001: .+ See `headwater help [a-z]+`\.$/m, what);
        assert.equal(exitCode, 2, what);
        if (!line.includes("--json")) assert.equal(stdout, "", what);
      }
    });
  }

  for (const name of ["serve", "dev", "doctor"]) {
    const options = Object.entries(commands.find((each) => each.name === name)?.options ?? {});
    for (const [option] of options.filter(([, { value }]) => NUMBER.test(value ?? ""))) {
      test(`headwater ${name} --${option} with what is no such number`, async () => {
        for (const value of NUMBERS) {
          const { exitCode, stderr } = await headwater(name, `--${option}`, value);
          assert.match(stderr, new RegExp(`^error HW-2001: .*--${option} `), value);
          assert.equal(exitCode, 2, value);
        }
      });
    }
  }
});

describe("help fits a terminal", () => {
  for (const [what, text] of [
    ["the overview", overview(commands)],
    ...commands.map((command) => [command.name, details(command)] as const),
  ] as const) {
    test(what, () => {
      const wide = text.split("\n").filter((line) => line.length > WIDTH && line.includes(" ", 1));
      assert.deepEqual(
        wide.filter((line) => !line.startsWith("Usage: ")),
        [],
      );
    });
  }
});
