/**
 * Coordination as it is carried out: contexts to be extended by the receivers of a stream. Which kind a component needs
 * is the analysis's business (`planCoordination`); where it needs none, messages are taken as they come.
 */
/// <reference types="node" preserve="true" />

export { SealedPartition } from "./sealed-partition.js";
export { Sequencer } from "./sequencer.js";
