import { signatures } from "./signature.js";

export const TIME = signatures(`
  + - : date int4 -> date
  + : int4 date -> date
  - : date date -> int4
  + - : date interval -> timestamp
  + - : timestamp interval -> timestamp
  + - : timestamptz interval -> timestamptz
  + : interval date -> timestamp
  + : interval timestamp -> timestamp
  + : interval timestamptz -> timestamptz
  - : timestamp timestamp -> interval
  - : timestamptz timestamptz -> interval
  + - : interval interval -> interval
  * : interval float8 -> interval
  * : float8 interval -> interval
  / : interval float8 -> interval
  negate : interval -> interval
  date_trunc : text timestamp -> timestamp
  date_trunc : text timestamptz -> timestamptz
  extract : text date -> numeric
  extract : text timestamp -> numeric
  extract : text timestamptz -> numeric
  extract : text interval -> numeric
  to_char : timestamp text -> text
  to_char : timestamptz text -> text
  to_timestamp : float8 -> timestamptz
  timezone : text timestamptz -> timestamp
  timezone : text timestamp -> timestamptz
`);
