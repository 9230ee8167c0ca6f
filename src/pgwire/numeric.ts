import { BrokenProtocol } from "./frames.js";

/**
 * The binary form of `numeric`: digits to the base of 10,000, the weight of the first (its power of 10,000), a sign,
 * and how many decimal digits to show behind the point.
 */
const NEGATIVE = 0x4000;
const NAN = 0xc000;
const POSITIVE_INFINITY = 0xd000;
const NEGATIVE_INFINITY = 0xf000;
const GROUP = 4;

const NAMED: readonly (readonly [text: string, sign: number])[] = [
  ["NaN", NAN],
  ["Infinity", POSITIVE_INFINITY],
  ["-Infinity", NEGATIVE_INFINITY],
];

export function encodeNumeric(text: string): Buffer {
  const named = NAMED.find(([name]) => name === text);
  if (named !== undefined) return written(0, named[1], 0, []);
  const [, minus = "", whole = "", fraction = ""] = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  const left = whole.padStart(Math.ceil(whole.length / GROUP) * GROUP, "0");
  const right = fraction.padEnd(Math.ceil(fraction.length / GROUP) * GROUP, "0");
  const digits = (left + right).match(/.{4}/g)?.map(Number) ?? [];
  let weight = left.length / GROUP - 1;
  while (digits[0] === 0) {
    digits.shift();
    weight--;
  }
  while (digits.at(-1) === 0) digits.pop();
  if (digits.length === 0) return written(0, 0, fraction.length, []);
  return written(weight, minus === "" ? 0 : NEGATIVE, fraction.length, digits);
}

function written(weight: number, sign: number, scale: number, digits: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 + 2 * digits.length);
  bytes.writeInt16BE(digits.length, 0);
  bytes.writeInt16BE(weight, 2);
  bytes.writeUInt16BE(sign, 4);
  bytes.writeInt16BE(scale, 6);
  for (const [i, digit] of digits.entries()) bytes.writeInt16BE(digit, 8 + 2 * i);
  return bytes;
}

export function decodeNumeric(bytes: Buffer): string {
  if (bytes.length < 8 || bytes.length !== 8 + 2 * bytes.readInt16BE(0))
    throw new BrokenProtocol("a numeric parameter of a wrong length");
  const [count, weight, sign, scale] = [
    bytes.readInt16BE(0),
    bytes.readInt16BE(2),
    bytes.readUInt16BE(4),
    bytes.readInt16BE(6),
  ];
  const named = NAMED.find(([, mark]) => mark === sign);
  if (named !== undefined) return named[0];
  const digit = (power: number) => {
    const index = weight - power;
    return String(index >= 0 && index < count ? bytes.readInt16BE(8 + 2 * index) : 0).padStart(GROUP, "0");
  };
  let whole = "";
  for (let power = weight; power >= 0; power--) whole += digit(power);
  let fraction = "";
  for (let power = -1; fraction.length < scale; power--) fraction += digit(power);
  const shown = whole.replace(/^0+(?=\d)/, "") || "0";
  return `${sign === NEGATIVE ? "-" : ""}${shown}${scale > 0 ? `.${fraction.slice(0, scale)}` : ""}`;
}
