import { signatures } from "./signature.js";

/** All but `count`, which takes anything, and `array_agg`, which makes an array of anything. */
export const AGGREGATES = signatures(`
  sum : int2 -> int8?
  sum : int4 -> int8?
  sum : int8 -> numeric?
  sum avg : numeric -> numeric?
  sum : float4 -> float4?
  sum avg : float8 -> float8?
  sum avg : interval -> interval?
  avg : int2 -> numeric?
  avg : int4 -> numeric?
  avg : int8 -> numeric?
  avg : float4 -> float8?
  min max : int2 -> int2?
  min max : int4 -> int4?
  min max : int8 -> int8?
  min max : numeric -> numeric?
  min max : float4 -> float4?
  min max : float8 -> float8?
  min max : text -> text?
  min max : date -> date?
  min max : timestamp -> timestamp?
  min max : timestamptz -> timestamptz?
  min max : interval -> interval?
  bool_and bool_or : bool -> bool?
  string_agg : text text -> text?
`);
