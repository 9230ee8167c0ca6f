import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

function found(names: readonly string[]): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const file of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {}
  }
  return null;
}

/** Where one of these commands is. Where none is installed, root gets the package from Debian; others are told to. */
export async function needed(names: readonly string[], debianPackages: string): Promise<string> {
  const there = found(names);
  if (there !== null) return there;
  const missing = `the tests need ${names.join(" or ")}, and none is on the PATH`;
  if (process.getuid?.() !== 0)
    throw new Error(`${missing}. Install it, on Debian with \`apt-get install ${debianPackages}\`.`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const lock = join(tmpdir(), "headwater-apt.lock"); // other test files may need something, too
  const apt = (...args: string[]) =>
    execute("flock", [lock, "apt-get", ...args], { env, maxBuffer: 2 ** 26 });
  const why = await apt("update")
    .then(() => apt("install", "-y", "--no-install-recommends", ...debianPackages.split(" ")))
    .then(
      () => "",
      (error: Error) => error.message,
    );
  const installed = found(names);
  if (installed === null) throw new Error(`${missing}; apt-get could not install ${debianPackages}: ${why}`);
  return installed;
}
