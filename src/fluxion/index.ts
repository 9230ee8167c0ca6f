/** Existing Node programs as pipelines: the compiler. */
export { type Compilation, type CompileOptions, compile } from "./compile.js";
export { dataflowOf } from "./dataflow.js";
export { withDispatcher } from "./language/dispatch.js";
export type { Fluxion, FluxionStream } from "./language/fluxion.js";
export { type InterpretOptions, interpret } from "./language/interpret.js";
export { parse } from "./language/parse.js";
export { fluxionsOf, print } from "./language/print.js";
export { type LinkOptions, link } from "./link/link.js";
export { type Written, withMap, writeProgram } from "./link/write.js";
export type * from "./pipeline.js";
export { type Profile, withProfile } from "./profile.js";
export { pipelineToSvg } from "./show/svg.js";
export { showPipeline, showUncut } from "./show/text.js";
