/** What of the program's files a worker needs, through all files, and whether it can load that anew and alike. */

export { type ModuleSlice, Slicer } from "./slice.js";
