/**
 * What servers and clients say to each other, and in which bytes: messages and their MessagePack (`frames.ts`, `pack.ts`,
 * `unpack.ts`), values and errors in the form in which they travel (`form.ts`, `failure.ts`), and how far a client has got in the
 * messages to it (`positions.ts`). Both sides import this file only. It runs in browsers, so it imports errors and types alone.
 */

export {
  closeCodeOf,
  closeReasonOf,
  errorFrom,
  errorOfClose,
  errorOfForm,
  failureForm,
} from "./failure.js";
export { cannotTravel, forbiddenField, fromForm, isForbiddenField, toForm } from "./form.js";
export { PROTOCOL_VERSION, pack, type Terms } from "./frames.js";
export { Packer } from "./pack.js";
export { Positions } from "./positions.js";
export { Queue } from "./queue.js";
export { Unpacker } from "./unpack.js";
