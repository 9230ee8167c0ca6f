/** What follows an `await`, written as a continuation of its own: for the pipeline that is shown, not for what runs. */

export { continued } from "./continuations.js";
