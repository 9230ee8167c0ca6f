/** What hosts of the service load. */
export { Streams as default } from "./contexts.js";
