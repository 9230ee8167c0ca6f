import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import Module from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type CompiledTexts, compileApart } from "../fluxion/apart.js";
import type { Profile } from "../fluxion/profile.js";
import { install, statistics } from "../fluxion/runtime/index.js";
import { MOVING, type Moving, type Settings } from "../fluxion/runtime/settings.js";
import { substituteImported, substituteRequired } from "../fluxion/runtime/substitute.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { profileOf } from "./fluxion-options.js";
import { findApp } from "./program-file.js";
import { closedPipe } from "./terminal.js";
import { folderWith } from "./worker-folder.js";

const THREADS_MAX = 256;
const PROFILE_EVERY_MS = 1000;
const TYPESCRIPT = /\.[mc]?ts$/;

/** Hands the process over to a program, compiled in memory. It ends when the program ends, as the program ends it. */
export async function runFluxions(command: CliCommand, args: Arguments): Promise<never> {
  const { values, rest } = args;
  const file = findApp(args.operands[0] ?? "", process.cwd());
  const move = moveOf(command, args);
  const settings: Partial<Settings> = {
    ...(move === undefined ? {} : { move }),
    ...threadsOf(command, args),
    ...timeoutOf(command, args),
    ...(values.has("profiled") ? { profile: profileOf(values.get("profiled") ?? "", command).stages } : {}),
  };
  const packages = values.get("packages")?.split(",") ?? [];
  const compiled = await compileApart({ file, packages, trivial: move === "all" });
  install({ ...settings, manifest: pathToFileURL(join(folderOf(compiled), "manifest.json")).href });
  await keepFigures(values);
  process.stdout.off("error", closedPipe);
  process.argv = [process.argv[0] ?? "node", file, ...rest];
  await hand(file, compiled);
  return new Promise(() => {});
}

/** What is to be written about the stages while the program runs, and when it ends. */
async function keepFigures(values: Arguments["values"]): Promise<void> {
  const [stats, profile] = [values.get("stats"), values.get("profile")];
  if (stats !== undefined) process.on("exit", () => write(stats, statistics()));
  if (profile === undefined) return;
  const { Sampling } = await import("../fluxion/sampling.js");
  const sampling = new Sampling();
  sampling.start();
  const keep = () => {
    const measured = statistics().flatMap(({ id, localMs }) => (localMs === null ? [] : [[id, localMs]]));
    write(profile, { stages: Object.fromEntries(measured), time: sampling.sofar() } satisfies Profile);
  };
  process.on("exit", keep);
  setInterval(keep, PROFILE_EVERY_MS).unref(); // a program that is ended by a signal has no exit
}

async function hand(file: string, { files, workers }: CompiledTexts): Promise<void> {
  if (files.size > 0) process.setSourceMapsEnabled(true);
  const isTypeScript = [file, ...files.keys(), ...workers.keys()].some((each) => TYPESCRIPT.test(each));
  // Hooks that come first are asked last: what they give is what those of tsx transform.
  if (files.size > 0 && !isCommonJs(file)) substituteImported(files);
  if (isTypeScript) {
    (await import("tsx/esm/api")).register();
    (await import("tsx/cjs/api")).register();
  }
  if (files.size > 0) substituteRequired(files);
  // From an empty stack, so that ticks and promises take their turns as they do in a program that Node has started.
  setTimeout(() => (isTypeScript ? void import(pathToFileURL(file).href) : Module.runMain(file)), 0);
}

/** Then all that it needs first is CommonJS, too, and hooks for ES modules would only cost time. */
function isCommonJs(file: string): boolean {
  if (file.endsWith(".cjs")) return true;
  if (!/(?:\.js|[\\/][^\\/.]+)$/.test(file)) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return (manifest as { type?: unknown }).type !== "module";
    } catch {
      if (folder === dirname(folder)) return true;
    }
  }
}

function folderOf({ workers, manifest }: CompiledTexts): string {
  return folderWith(new Map(workers).set("manifest.json", JSON.stringify(manifest)));
}

function write(file: string, data: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`);
}

function threadsOf(command: CliCommand, { values }: Arguments): Partial<Settings> {
  const written = values.get("threads");
  if (written === undefined) return {};
  const threads = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (threads >= 1 && threads <= THREADS_MAX) return { threads };
  throw misused(command, `--threads is a number from 1 to ${THREADS_MAX}, not "${written}".`);
}

function timeoutOf(command: CliCommand, { values }: Arguments): Partial<Settings> {
  const written = values.get("stage-timeout");
  if (written === undefined) return {};
  const stageMsMax = /^\d{1,9}$/.test(written) ? Number(written) : 0;
  if (stageMsMax > 0) return { stageMsMax };
  throw misused(command, `--stage-timeout is a number of milliseconds above 0, not "${written}".`);
}

function moveOf(command: CliCommand, { values }: Arguments): Moving | undefined {
  if (values.has("profile")) return "measure";
  const written = values.get("move");
  const move = MOVING.find((each) => each === written);
  if (written === undefined || move !== undefined) return move;
  throw misused(command, `--move is one of ${MOVING.join(", ")}, not "${written}".`);
}
