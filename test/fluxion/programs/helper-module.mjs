import express from "express";
import table from "./parts/table.mjs";
import { wrap as around } from "./parts/wrap.mjs";

const app = express();
app.get("/", function handler(req, res) {
  res.send(around(table[req.query.key] ?? "nothing"));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
