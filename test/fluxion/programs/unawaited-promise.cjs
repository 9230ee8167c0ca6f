const express = require("express");
const app = express();
const table = [3, 5];
async function audit(x) {
  await null;
  console.log("audited", x * table[0]);
}
app.get("/", function handler(req, res) {
  audit(Number(req.query.n));
  res.send(`sent ${req.query.n}`);
});
app.get("/chain", function chain(req, res) {
  Promise.resolve(2).then((n) => console.log("later", n * table[1]));
  res.send("chained");
});
app.get("/last", function last(req, res) {
  res.send("last");
  Promise.reject(new Error("nobody waits"));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
