/**
 * Carriers of bytes between a head and its hosts: a `Carrier` sends, a `Receiver` hears. One for threads, one for sockets and
 * pipes. They know nothing of what they carry. Another way between machines is another `Carrier`.
 */

export type { BatchReceiver, Carrier } from "./carrier.js";
export { PortCarrier } from "./port-carrier.js";
export { FRAME_BYTES_MAX, JOINED_BYTES_MAX, SocketCarrier } from "./socket-carrier.js";
