import type { Label } from "../labels.js";

/** By severity, readable on light and on dark ground; the label is always written beside its colour. */
export const COLOURS: Readonly<Record<Label, { readonly light: string; readonly dark: string }>> = {
  Seal: { light: "#00695c", dark: "#4db6ac" },
  Async: { light: "#455a64", dark: "#b0bec5" },
  Run: { light: "#8a6100", dark: "#ffd54f" },
  Inst: { light: "#c2410c", dark: "#ffab66" },
  Diverge: { light: "#b91c1c", dark: "#ff8a80" },
};
