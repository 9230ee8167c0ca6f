/** A pipeline for people: as text and as a picture. */

export { pipelineToSvg } from "./svg.js";
export { showPipeline, showUncut } from "./text.js";
export { byTime, showTime } from "./time.js";
