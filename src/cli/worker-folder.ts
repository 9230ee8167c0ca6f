import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * A folder with these files, outside of the program. It is named after what is in it and kept: a program that is run
 * again finds it, and one that is killed leaves no other behind.
 */
export function folderWith(files: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  for (const [name, text] of files) hash.update(`${name} ${text.length} ${text}`);
  const above = ownFolder();
  const folder = join(above, hash.digest("hex").slice(0, 32));
  if (existsSync(folder)) return folder;
  const draft = mkdtempSync(join(above, "new-"));
  for (const [name, text] of files) {
    mkdirSync(dirname(join(draft, name)), { recursive: true });
    writeFileSync(join(draft, name), text);
  }
  try {
    renameSync(draft, folder); // whole or not at all
    return folder;
  } catch {
    return draft; // another process was faster, or something else was put there
  }
}

/** Threads run what lies there, so no other user may write to it. */
function ownFolder(): string {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `headwater-${user}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const isOwn = process.getuid === undefined || (found.uid === user && (found.mode & 0o077) === 0);
  return isOwn && found.isDirectory() ? folder : mkdtempSync(join(tmpdir(), "headwater-"));
}
