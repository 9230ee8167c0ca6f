/** What hosts of the service load. Functions that queries use are loaded first; see `StreamsOptions.functions`. */
import { loadFunctions } from "../functions/index.js";

const functions = new URL(import.meta.url).searchParams.get("functions");
if (functions !== null) await loadFunctions(functions);

export { Streams as default } from "./contexts.js";
