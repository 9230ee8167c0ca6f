/** Existing Node programs as pipelines: the compiler. */
export { type Compilation, type CompileOptions, compile } from "./compile.js";
export { dataflowOf } from "./dataflow.js";
export {
  type Fluxion,
  type FluxionStream,
  fluxionsOf,
  type InterpretOptions,
  interpret,
  parse,
  print,
  withDispatcher,
} from "./language/index.js";
export { type LinkOptions, link, type Written, withMap, writeProgram } from "./link/index.js";
export type * from "./pipeline.js";
export { type Profile, type SampledTime, type TimeAt, withProfile } from "./profile.js";
export { byTime, pipelineToSvg, showPipeline, showTime, showUncut } from "./show/index.js";
