import { signatures } from "./signature.js";

export const JSON_ACCESS = signatures(`
  -> : json text -> json?
  -> : json int4 -> json?
  -> : jsonb text -> jsonb?
  -> : jsonb int4 -> jsonb?
  ->> : json text -> text?
  ->> : json int4 -> text?
  ->> : jsonb text -> text?
  ->> : jsonb int4 -> text?
`);
