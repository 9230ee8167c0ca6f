/**
 * How a program could tell that code runs elsewhere or later: state that others change meanwhile, timers and listeners that
 * come first, middleware that goes on after `next()`, effects out of place, copies that are not the same object. Each file
 * gives the facts that speak against one stage; `decide` asks all of them.
 */

export { lookedAfter } from "./after-next.js";
export { atomicFacts, chainFacts } from "./atomic.js";
export { effectsOutOfPlace } from "./effects.js";
export { followFacts } from "./follow.js";
export {
  begunAround,
  begunBefore,
  calledAloneFacts,
  continuedAlone,
  guardFacts,
  leftAloneFacts,
} from "./guards.js";
export { givenBack, isOfMainLoop, notTheSame } from "./identity.js";
export { lookedAtFacts } from "./looked-at.js";
export { oddFacts } from "./odd.js";
export { overtaking } from "./parallel.js";
export { passingFacts } from "./passing.js";
export { hasContinuation, isPosted, postedFacts } from "./posted.js";
export { unawaitedFacts } from "./promises.js";
export { renderFacts } from "./rendered.js";
export { zoneFacts } from "./zone.js";
