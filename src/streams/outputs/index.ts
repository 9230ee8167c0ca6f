/**
 * Results as text: for people, for other programs, for spreadsheets.
 */
export { type Format, writerOf } from "./writers.js";
