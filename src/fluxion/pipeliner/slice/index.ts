/** What of the program's files a worker needs, through all files, and whether it can load that anew and alike. */

export { addSlice, emptySlice, type ModuleSlice } from "./module-slice.js";
export { Slicer } from "./slice.js";
