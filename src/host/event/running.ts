import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";

/**
 * The method whose code runs at this moment. Known only until it first waits for something: what goes on after an
 * `await` looks like any other code.
 */
export const running: { slot: Slot | null; method: Method | null } = { slot: null, method: null };
