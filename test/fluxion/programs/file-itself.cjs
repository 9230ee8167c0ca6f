const express = require("express");
const app = express();
const isMain = require.main === module;
function loops(x) {
  let out = "";
  for (const c of String(x)) out += c;
  return out;
}
exports.shout = (x) => `${x}!`;
app.get("/constant", function constant(req, res) {
  res.json([loops(req.query.a), isMain]);
});
app.get("/main", function main(req, res) {
  res.json([loops(req.query.a), require.main === module, module.id]);
});
app.get("/exports", function own(req, res) {
  res.json([loops(req.query.a), exports.shout("a")]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
