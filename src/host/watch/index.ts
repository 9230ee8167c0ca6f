/**
 * Who notices that the thread of the program itself is blocked, or that an event in it waits too long. Hosts are
 * watched by the fleet.
 */

export { watchHead, watchHere } from "./watch-here.js";
