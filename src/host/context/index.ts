/**
 * One context: its state in memory (`Slot`), when that is evicted (`Cache`), and its keys and bytes in a journal
 * (`stored-*`). Bytes go to the journal and to other hosts in the same form. `Slot` is the name of a context
 * everywhere in `host`; how its state is written is known only here.
 */

export { Cache, type Keeper, Unmade, weakly } from "./cache.js";
export { loadSeated } from "./kept-engines.js";
export { Slot, stateOrNull } from "./slot.js";
export { Staged, UNREAD_BYTES_MIN } from "./staged-state.js";
export { rootOf, storedChildren, storedLong, storedWithin } from "./stored-below.js";
export { writtenEntry } from "./stored-form.js";
export {
  contextNameIn,
  digits,
  fieldPrefix,
  isLong,
  longPrefix,
  mainKey,
  NAME_BYTES_MAX,
  ownedEntryOf,
  partsPrefix,
  prefixesOfNode,
  rootContextName,
  segment,
  shortened,
  stepsIn,
  timersPrefix,
} from "./stored-keys.js";
export { checkShapes } from "./stored-shapes.js";
export {
  copiedWrites,
  decodeState,
  encodeState,
  loadState,
  stateWrites,
  storedWrites,
} from "./stored-state.js";
