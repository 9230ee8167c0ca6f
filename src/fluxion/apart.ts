import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";
import { checkPart } from "../packages.js";
import type { Manifest } from "./pipeline.js";

/**
 * Compiles in a process of its own. What a compiler leaves behind in a process (its heap, its code, what the engine has
 * learned from it) makes a program that runs there afterwards about a twentieth slower.
 */

const MAIN = fileURLToPath(new URL("./compile-process.js", import.meta.url));

export interface CompileTask {
  readonly file: string;
  readonly packages: readonly string[];
  /** Also stages that are plainly not worth it. */
  readonly trivial: boolean;
}

/** A program that was compiled and linked, as texts with their source maps. */
export interface CompiledTexts {
  /** By their paths, those files of the program that have changed. */
  readonly files: ReadonlyMap<string, string>;
  readonly workers: ReadonlyMap<string, string>;
  readonly manifest: Manifest;
}

export type Compiled =
  | { readonly texts: CompiledTexts }
  | { readonly refused: { readonly code: string; readonly message: string } };

export async function compileApart(task: CompileTask): Promise<CompiledTexts> {
  checkPart("reading the code of programs");
  const { NODE_OPTIONS: _forTheProgram, ...env } = process.env;
  const child = fork(MAIN, { execArgv: [], serialization: "advanced", env });
  const compiled = await new Promise<Compiled>((resolve, reject) => {
    child.once("error", reject);
    child.once("message", resolve);
    child.once("exit", (code, signal) => reject(endedEarly(task, signal ?? `code ${code}`)));
    child.send(task);
  });
  if ("refused" in compiled) throw HeadwaterError.restored(compiled.refused.code, compiled.refused.message);
  return compiled.texts;
}

function endedEarly({ file }: CompileTask, how: string): HeadwaterError {
  const what = `${file} could not be compiled: the process that does it ended with ${how}.`;
  return new HeadwaterError("HW-7001", `${what} What it said is above; it may have run out of memory.`);
}
