import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Context, hostsOf, MemoryJournal, run } from "headwater";
import { openProcess } from "#src/host/link/process-link.js";
import { openThread } from "#src/host/link/thread-link.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { refused } from "../refused.js";
import Bank from "./programs/bank.js";

const bank = new URL("./programs/bank.ts", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "headwater-loading-"));
after(() => rmSync(folder, { recursive: true }));

/** A module with this text. */
function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

class Mine extends Context {
  count = 0;
  add() {
    this.count += 1;
    return this.count;
  }
}

/** The same names as in the module, and another method. */
const Changed = { Bank: class Bank extends Mine {} }.Bank;

const broken: readonly (readonly [
  name: string,
  root: typeof Bank | typeof Mine,
  module: string,
  ...says: string[],
])[] = [
  ["is not there", Bank, pathToFileURL(join(folder, "nothing.mjs")).href, "nothing.mjs", "no such file"],
  ["throws", Bank, written("throws.mjs", 'throw new Error("out of order");'), "throws.mjs", "out of order"],
  ["does not parse", Bank, written("text.mjs", "export default class {"), "text.mjs", "failed while loading"],
  [
    "imports what is not there",
    Bank,
    written("imports.mjs", 'import "./gone.mjs";'),
    "imports.mjs",
    "gone.mjs",
  ],
  [
    "has no default export",
    Bank,
    written("none.mjs", "export const a = 1;"),
    "none.mjs",
    "no default export",
  ],
  ["has no contexts", Bank, written("number.mjs", "export default 7;"), "number.mjs", "extends Context"],
  ["has another root class", Mine, bank, "bank.ts", "another program", "Bank", "Mine"],
  [
    "has another root class of that name",
    Changed,
    bank,
    "bank.ts",
    "its Bank has branches(…)",
    "count, add()",
  ],
];

const threads = { hosts: 2, hostsAs: "threads" } as const;
const processes = { hosts: 1, hostsAs: "processes" } as const;

describe("`run` is refused, and says why, if the module", () => {
  for (const [name, root, module, ...says] of broken) {
    test(name, async () => {
      await refused(run(root, { ...threads, module }), "HW-2002", ...says);
      const journal = new MemoryJournal();
      await refused(run(root, { ...processes, module, journal }), "HW-2002", ...says);
    });
  }

  test("cannot be loaded, with a journal or without, by threads or processes", async () => {
    const module = written("again.mjs", 'throw new Error("out of order");');
    await refused(run(Bank, { ...threads, module, journal: new MemoryJournal() }), "HW-2002", "out of order");
    await refused(run(Bank, { ...processes, module }), "HW-2002", "out of order");
  });
});

for (const [kind, open] of [
  ["thread", openThread],
  ["process", openProcess],
] as const) {
  test(`a ${kind} that cannot load the program says so before it ends, and not by its end`, async () => {
    const module = written(`${kind}.mjs`, 'throw new Error("out of order");');
    const heard: string[] = [];
    await new Promise<void>((end) => {
      open(
        { module, limits: DEFAULT_LIMITS, isDurable: false },
        {
          batch: () => heard.push("a batch"),
          aside: (aside) => heard.push(aside.kind === "failed" ? aside.code : aside.kind),
          lost: ({ message }) => {
            heard.push(message);
            end();
          },
        },
      );
    });
    assert.deepEqual(heard, ["HW-2002", "it ended with code 1"]);
  });
}

test("of a module that ends its host while it is loaded, the name is told, too", async () => {
  const module = written("ends.mjs", "process.exit(3);");
  for (const hosts of [threads, processes])
    await refused(run(Bank, { ...hosts, module }), "HW-6008", "code 3", "ends.mjs");
});

test("the module may be given as an absolute path, and a relative one is refused", async () => {
  await using service = await run(Bank, { hosts: 2, module: fileURLToPath(bank) });
  assert.equal(await service.root.branches(1).transfer(1, 2, 5, "t"), 95);
  assert.equal(hostsOf(service).list().length, 2);
  for (const module of ["./programs/bank.ts", "bank.ts"])
    await refused(run(Bank, { hosts: 2, module }), "HW-6002", "`module`", module, "module: import.meta.url");
  await refused(run(Bank, { hosts: 2, module: 7 as never }), "HW-6002", "`module`", "7");
});

test("the logical nodes of a module may stand in another order", async () => {
  const module = written(
    "nodes.mts",
    `import Bank from ${JSON.stringify(bank)}; export default { south: Bank, north: Bank };`,
  );
  await using service = await run({ north: Bank, south: Bank }, { hosts: 2, module });
  assert.equal(await service.nodes.north.branches(1).transfer(1, 2, 5, "t"), 95);
});
