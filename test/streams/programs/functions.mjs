import { aggregate, fn } from "headwater/streams";

fn("norm", { args: ["double precision"], returns: "double precision" }, (squares) => Math.sqrt(squares));
aggregate(
  "sum_of_squares",
  { args: ["bigint"], returns: "double precision" },
  { init: () => 0, add: (sum, x) => sum + x * x, result: (sum) => sum },
);
