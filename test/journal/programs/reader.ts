/**
 * Is told directories. Opens the journal there, reads all keys, writes one, closes it, opens it once more, and says how that
 * went: a digest of what it read each time, or the error.
 */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { HeadwaterError } from "headwater";
import type { Journal } from "#src/journal/journal.js";
import { openJournal } from "#src/journal/open.js";
import { IDENTITY, textOf, write } from "../support.js";

function digestOf(journal: Journal): string {
  const hash = createHash("sha256");
  for (const [key, value] of journal.range("")) {
    if (key === "one") continue;
    hash.update(JSON.stringify([key, Buffer.from(value).toString("hex")]));
    if (textOf(journal, key) !== Buffer.from(value).toString()) hash.update("another value by its key");
  }
  return hash.digest("hex");
}

async function read(directory: string) {
  const warnings: string[] = [];
  const options = { durability: "synced", onWarning: (text: string) => warnings.push(text) } as const;
  const journal = await openJournal(directory, IDENTITY, options);
  const first = digestOf(journal);
  await write(journal, { one: "more" });
  await journal.close();
  const again = await openJournal(directory, IDENTITY, options);
  const second = digestOf(again);
  const isWritten = textOf(again, "one") === "more";
  await again.close();
  return { digests: isWritten ? [first, second] : ["what was written is lost"], warnings };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { number, directory } = JSON.parse(line) as { number: number; directory: string };
  const report = await read(directory).then(
    (found) => ({ number, ...found }),
    (error: unknown) => ({
      number,
      code: error instanceof HeadwaterError ? error.code : "none",
      message: error instanceof Error ? `${error.message} ${error.stack}` : String(error),
    }),
  );
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
