import { HeadwaterError } from "../errors.js";

/** What is said of a socket whose client has broken the protocol. */

export function unknownKind(): HeadwaterError {
  return new HeadwaterError("HW-4014", "a message is of no known kind.");
}

/** The library has found a frame that it does not take. */
export function brokenFrame(error: Error, bodyBytes: number): HeadwaterError {
  const code = (error as Error & { code?: unknown }).code;
  const isTooLarge =
    code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_TOO_MANY_BUFFERED_PARTS";
  return isTooLarge
    ? new HeadwaterError("HW-4006", `a frame is larger than ${bodyBytes} bytes, or in too many parts.`)
    : new HeadwaterError("HW-4014", `a frame is not well formed: ${error.message}.`);
}
