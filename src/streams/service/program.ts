import "../../state/tracked-fields.js"; // makes what `tracked` and `owned` declare

/** What hosts of the service load. */
export { Streams as default } from "./contexts.js";
