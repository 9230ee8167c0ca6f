import type { Frame } from "./frame.js";

/**
 * The method whose code runs at this moment. Known only until it first waits for something: what goes on after an
 * `await` looks like any other code.
 */
export const running: { now: Frame | null } = { now: null };
