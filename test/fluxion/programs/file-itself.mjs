import { basename } from "node:path";
import express from "express";

const app = express();
const name = basename(import.meta.url);
const isMain = typeof import.meta.resolve === "function";
function loops(x) {
  let out = "";
  for (const c of String(x)) out += c;
  return out;
}
app.get("/constant", function constant(req, res) {
  res.json([loops(req.query.a), name, isMain]);
});
app.get("/place", function place(req, res) {
  res.json([loops(req.query.a), basename(import.meta.url), basename(import.meta.dirname)]);
});
app.get("/meta", function meta(req, res) {
  res.json([loops(req.query.a), import.meta.resolve("express").length > 0]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
