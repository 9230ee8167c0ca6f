import type { Bundle as MagicBundle, default as MagicString } from "magic-string";
import { importPackage } from "../../packages.js";

/** A text that is changed in places and keeps its source map, and several of them as one. */
export const { default: Text, Bundle } = await importPackage(() => import("magic-string"));
export type Text = MagicString;
export type Bundle = MagicBundle;
