import type { TestContext } from "node:test";
import type { Journal } from "#src/journal/journal.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { conforms } from "./conformance.js";
import { newDirectory, openIn } from "./support.js";

/** Small limits, so that all of the machinery is at work. */
const kinds: Record<string, (t: TestContext) => Promise<Journal>> = {
  memory: async () => new MemoryJournal(),
  "embedded, synced": (t) => openIn(t, newDirectory(t), { carryOver: { keys: 40, logBytes: 4000 } }),
  "embedded, written": (t) =>
    openIn(t, newDirectory(t), { durability: "written", carryOver: { keys: 40, logBytes: 4000 } }),
};

for (const [kind, open] of Object.entries(kinds)) conforms(kind, open);
