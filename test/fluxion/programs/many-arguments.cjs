const express = require("express");
const app = express();
const log = [];
function last(a, b, c, d, e, f, g, h, i, j) {
  j.push(a);
}
app.get("/add", function add(req, res) {
  last(...[1, 2, 3, 4, 5, 6, 7, 8, 9, log]);
  res.send("added");
});
app.get("/", function handler(req, res) {
  res.send(`log ${log.join()}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
