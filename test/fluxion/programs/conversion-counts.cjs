const express = require("express");
const app = express();
let total = 0;
class Ticket {
  toString() {
    return `no. ${++total}`;
  }
}
class Numbers {
  n = 0;
  *[Symbol.iterator]() {
    yield ++this.n;
  }
}
const ticket = new Ticket();
const numbers = new Numbers();
app.get("/ticket", function draw(req, res) {
  let out = "";
  for (const c of String(req.query.a)) out += c;
  res.send(`${out} ${ticket}`);
});
app.get("/number", function count(req, res) {
  res.json([...numbers, req.query.a]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
