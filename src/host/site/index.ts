/**
 * The host's side of events: `HostSite` runs what the head of each logical node sends, and says what came of it. It
 * knows the head only by messages.
 */

export { HostSite } from "./site.js";
