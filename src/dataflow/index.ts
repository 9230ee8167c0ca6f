/**
 * The dataflow of a context program, for the analysis: logical nodes are components, messages are streams. Classes are read as
 * they are loaded, effects off the text of the program's files; what neither says is taken for the worst.
 */
export { type ProgramFacts, programFacts } from "./program.js";
export { showProgram } from "./show.js";
