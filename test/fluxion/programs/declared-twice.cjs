const express = require("express");
const app = express();
function render(x) {
  return `old ${x}`;
}
var mode = "a";
const first = mode;
var mode = "b";
function render(x) {
  let out = "";
  for (const c of String(x)) out += c;
  return `new ${out}`;
}
function shown() {
  return "function";
}
var shown = () => "variable";
app.get("/", function handler(req, res) {
  res.json([render(req.query.a), mode, first, shown()]);
});
function chosen() {
  return "outer";
}
if (app !== null) {
  function chosen() {
    return "inner";
  }
}
app.get("/chosen", function choose(req, res) {
  res.json([render(req.query.a), chosen()]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
