import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A directory for a journal, that is not there yet, and gone when the test is. */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-durable-"));
  t.after(() => rm(made, { recursive: true, force: true, maxRetries: 20 })); // a process that is killed later may still write there
  return join(made, "journal");
}
