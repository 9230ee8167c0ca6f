/**
 * What generated code calls. Each function is one of PostgreSQL's, for operands that are not NULL.
 */
import { compareText, numericText, setNumeric, wholeMicros } from "../../columns/index.js";
import * as casts from "./casts.js";
import { like } from "./like.js";
import * as numbers from "./numbers.js";
import * as texts from "./texts.js";
import * as times from "./times.js";
import * as users from "./users.js";

export { likeMatcher } from "./like.js";
export { RowError } from "./row-error.js";

export const LIBRARY = {
  ...numbers,
  ...texts,
  ...times,
  ...casts,
  ...users,
  compareText,
  like,
  numericText,
  setNumeric,
  wholeMicros,
};

export type LibraryName = keyof typeof LIBRARY;
