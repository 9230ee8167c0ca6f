import { HeadwaterError } from "../errors.js";
import type { Compiled, CompiledTexts, CompileTask } from "./apart.js";
import { compile } from "./compile.js";
import { link, withMap } from "./link/index.js";
import { compilesOnce } from "./once.js";
import type { Generated } from "./pipeline.js";

/** The process that compiles one program for another that runs it. */
compilesOnce();
process.once("message", (task: CompileTask) => {
  process.send?.(outcomeOf(task), () => {
    if (process.connected) process.disconnect(); // else the parent is gone
  });
});

function outcomeOf(task: CompileTask): Compiled {
  try {
    return { texts: compiledTexts(task) };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}

function compiledTexts({ file, packages, trivial }: CompileTask): CompiledTexts {
  const { files, workers, manifest } = link(compile(file, { packages }), { trivial });
  return { files: withMaps(files), workers: withMaps(workers), manifest };
}

function withMaps(generated: ReadonlyMap<string, Generated>): Map<string, string> {
  return new Map([...generated].map(([name, each]) => [name, withMap(each)]));
}
