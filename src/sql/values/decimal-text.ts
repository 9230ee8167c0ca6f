/** A decimal without an exponent and with digits on both sides of a point, `.5e2` as `50`; `null` if the text is none. */
export function decimalText(text: string): string | null {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text.trim());
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts ?? [];
  const digits = whole + fraction;
  const shift = Number(exponent);
  if (parts === null || digits === "" || Math.abs(shift) > 1000) return null;
  const point = whole.length + shift;
  const padded = point < 0 ? "0".repeat(-point) + digits : digits.padEnd(point, "0");
  const at = Math.max(0, point);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, "") || "0";
  const after = padded.slice(at);
  const value = `${before}${after === "" ? "" : `.${after}`}`;
  return sign === "-" && /[1-9]/.test(value) ? `-${value}` : value;
}
