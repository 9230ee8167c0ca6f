import { signatures } from "./signature.js";

export const TIME = signatures(`
  + - : timestamp interval -> timestamp
  + - : timestamptz interval -> timestamptz
  + : interval timestamp -> timestamp
  + : interval timestamptz -> timestamptz
  - : timestamp timestamp -> interval
  - : timestamptz timestamptz -> interval
  + - : interval interval -> interval
  negate : interval -> interval
  date_trunc : text timestamp -> timestamp
  date_trunc : text timestamptz -> timestamptz
  date_trunc : text interval -> interval
  extract : text date -> numeric
  extract : text timestamp -> numeric
  extract : text timestamptz -> numeric
  extract : text interval -> numeric
`);
