/** Text as it may stand in an SVG, also in an attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** A coordinate: a tenth of a pixel is as much as anybody sees. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
