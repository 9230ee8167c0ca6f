/** The process that `probe` starts: it says what is wrong with a journal, or nothing, and ends. */

import { tryAll } from "./probe.js";

const trouble = await tryAll(process.argv[2] ?? "");
if (trouble !== null) process.send?.(trouble);
process.disconnect?.();
