/**
 * Rows of a stream to a target outside: a web server, a TCP port, a file, NATS. A delivery pulls from the stream's log by number, and says
 * how far it has come; what it pulls from, and where its position is kept, is its owner's business (`DeliveryPort`).
 */

export { type AddressPolicy, isPrivate, notAllowed } from "./addresses.js";
export {
  checkedOutput,
  type OutputDefinition,
  type OutputOptions,
  type OutputPolicy,
  shownTarget,
} from "./definition.js";
export { type DeliveryPort, type DeliveryState, OutputDelivery } from "./delivery.js";
export { natsOptions } from "./nats-options.js";
export { openTarget } from "./open-target.js";
