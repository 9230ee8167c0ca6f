/**
 * Results as text: for people, for other programs, for spreadsheets.
 */
export { cellText } from "./cells.js";
export { type Format, writerOf } from "./writers.js";
