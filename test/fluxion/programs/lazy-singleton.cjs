const express = require("express");
const app = express();
let table;
function tableOnce() {
  table ??= Array.from({ length: 5 }, (_, i) => i * i);
  return table;
}
app.get("/", function handler(req, res) {
  const squares = tableOnce();
  squares.push(squares.length);
  res.json(squares);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
