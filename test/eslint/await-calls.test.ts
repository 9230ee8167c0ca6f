import assert from "node:assert/strict";
import { test } from "node:test";
import { ESLint } from "eslint";
import headwater from "headwater/eslint";

const eslint = new ESLint({
  overrideConfigFile: true,
  baseConfig: [headwater.configs.recommended as never],
});

/** The lines with a call that nobody awaits. */
async function found(code: string): Promise<number[]> {
  const [result] = await eslint.lintText(code, { filePath: "program.js" });
  const messages = result?.messages ?? [];
  assert.deepEqual(
    messages.filter(({ ruleId }) => ruleId !== "headwater/await-calls"),
    [],
  );
  return messages.map(({ line }) => line);
}

/** In each method, lines that end with "// here" are to be found. */
const PROGRAM = `
import * as hw from "headwater";
import { Context } from "headwater";

class Base extends Context {
  async shared() {}
}
class Room extends Base {
  n = 0;
  seats = this.children(Seat);
  door = this.child(Door);
  async helper() {}
  async #hidden() {}
  static async load() {}
  plain() {}

  async own() {
    this.helper(); // here
    this.#hidden(); // here
    this.shared(); // here
    this?.helper(); // here
    this.helper().catch(() => {}); // here
    if (this.n > 0) this.helper(); // here
    [1].forEach(() => {
      this.helper(); // here
    });
    await this.helper();
    void this.helper();
    this.plain();
    const helping = this.helper();
    await helping;
    return this.helper();
  }
  async children() {
    this.seats(1).take("ada"); // here
    this.door.close(); // here
    this.seats(1).table.clear(); // here
    this.door.close().then(() => this.n++); // here
    await this.seats(1).take("ada");
    this.seats(1);
    this.event.start(this.door).close();
    await Promise.all([1, 2].map((seat) => this.seats(seat).take("bob")));
    [1, 2].map((seat) => this.seats(seat).take("eve"));
  }
  elsewhere() {
    const other = {
      helper() {},
      run() {
        this.helper();
      },
    };
    function inner() {
      this.helper();
    }
    other.run();
    inner();
  }
}
class Hall extends hw.Context {
  async light() {}
  enter() {
    this.light(); // here
  }
}
class Plain {
  async helper() {}
  run() {
    this.helper();
  }
}
`;

test("the rule for ESLint finds calls in contexts that nobody awaits, and nothing else", async () => {
  const expected = PROGRAM.split("\n").flatMap((line, i) => (line.endsWith("// here") ? [i + 1] : []));
  assert.ok(expected.length > 10);
  assert.deepEqual(await found(PROGRAM), expected);
});

test("it says what is called, and why it matters", async () => {
  const [result] = await eslint.lintText(
    "class A extends Context { b = this.child(B); m() { this.b.go(); } }",
    { filePath: "program.js" },
  );
  assert.match(result?.messages[0]?.message ?? "", /^this\.b\.go\(…\) is part of the event.*HW-1005/);
});
