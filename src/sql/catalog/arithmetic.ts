import { signatures } from "./signature.js";

export const ARITHMETIC = signatures(`
  + - * / % : int2 int2 -> int2
  + - * / % : int4 int4 -> int4
  + - * / % : int8 int8 -> int8
  + - * / % : numeric numeric -> numeric
  + - * / : float4 float4 -> float4
  + - * / : float8 float8 -> float8
  + - * / : float4 float8 -> float8
  + - * / : float8 float4 -> float8
  negate abs : int2 -> int2
  negate abs : int4 -> int4
  negate abs : int8 -> int8
  negate abs : numeric -> numeric
  negate abs : float4 -> float4
  negate abs : float8 -> float8
  mod : int2 int2 -> int2
  mod : int4 int4 -> int4
  mod : int8 int8 -> int8
  mod : numeric numeric -> numeric
  floor ceil round trunc sign : numeric -> numeric
  floor ceil round trunc sign : float8 -> float8
  round trunc : numeric int4 -> numeric
  sqrt exp ln : float8 -> float8
  power : float8 float8 -> float8
`);
