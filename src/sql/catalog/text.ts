import { signatures } from "./signature.js";

export const TEXT = signatures(`
  || : text text -> text
  lower upper trim ltrim rtrim reverse : text -> text
  trim ltrim rtrim : text text -> text
  length : text -> int4
  position strpos : text text -> int4
  starts_with : text text -> bool
  substring left right : text int4 -> text
  substring : text int4 int4 -> text
  replace : text text text -> text
  split_part : text text int4 -> text
`);
