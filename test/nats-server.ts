import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Older servers have lost acknowledged messages when they were killed. */
const VERSION_MIN = [2, 15] as const;
const NEEDED = `nats-server ${VERSION_MIN.join(".")} or later`;
const VARIABLE = "HEADWATER_NATS_SERVER";
/** Outside git, and kept between runs of the tests. */
const CACHE = fileURLToPath(new URL("../.cache/nats-server", import.meta.url));
const CACHED = join(CACHE, "nats-server");

/**
 * The path of a new enough nats-server: the one that an environment variable names, one on the PATH, the cached one, or the one in
 * Debian's unstable suite, which is downloaded into the cache without changing the system.
 */
export async function natsServer(): Promise<string> {
  const named = process.env[VARIABLE];
  if (named !== undefined && named !== "") {
    const version = await versionOf(named);
    if (isEnough(version)) return named;
    throw new Error(
      `${VARIABLE} names ${named}, which is ${version ?? "no nats-server"}; the tests need ${NEEDED}.`,
    );
  }
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, "nats-server");
    if (isProgram(path) && isEnough(await versionOf(path))) return path;
  }
  if (!isProgram(CACHED) || !isEnough(await versionOf(CACHED))) await download();
  return CACHED;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** As `nats-server --version` says it; null if that cannot be run. */
async function versionOf(path: string): Promise<string | null> {
  try {
    return /v(\d+\.\d+\.\d+)/.exec((await execute(path, ["--version"])).stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

function isEnough(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  return major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
}

/** By a temporary configuration of apt, which checks signatures. */
async function download(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "download-"));
  try {
    const sources = join(folder, "sources.list");
    writeFileSync(sources, `deb ${await debianMirror()} unstable main\n`);
    for (const each of ["lists/partial", "cache/archives/partial"])
      mkdirSync(join(folder, each), { recursive: true });
    const settings = [
      `Dir::Etc::sourcelist=${sources}`,
      "Dir::Etc::sourceparts=-",
      `Dir::State::lists=${join(folder, "lists")}`,
      `Dir::Cache=${join(folder, "cache")}`,
    ].flatMap((each) => ["-o", each]);
    const apt = (...args: string[]) =>
      execute("apt-get", [...settings, ...args], { cwd: folder, maxBuffer: 2 ** 26 });
    await apt("update");
    await apt("download", "nats-server");
    await execute("sh", ["-c", "dpkg -x nats-server_*.deb unpacked"], { cwd: folder });
    const program = ["usr/sbin", "usr/bin"]
      .map((each) => join(folder, "unpacked", each, "nats-server"))
      .find(existsSync);
    const version = program === undefined ? null : await versionOf(program);
    if (program === undefined || !isEnough(version))
      throw new Error(`the package has ${version ?? "no server"}`);
    renameSync(program, CACHED); // at once, so that test files that run side by side find all of it
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The tests need ${NEEDED}, and could not get it from Debian's unstable suite (${why}). Install it ` +
        `(https://nats.io/download), and put it on the PATH or name it in ${VARIABLE}.`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The mirror that this machine uses. */
async function debianMirror(): Promise<string> {
  const { stdout } = await execute("apt-get", ["indextargets", "--format", "$(REPO_URI)"]);
  const mirrors = stdout.split("\n").filter((each) => /\/debian\/?$/.test(each));
  return mirrors[0] ?? "http://deb.debian.org/debian/";
}
