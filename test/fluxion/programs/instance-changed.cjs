const express = require("express");
const app = express();
class Repeater {
  constructor(mark) {
    this.mark = mark;
  }
  repeat(n) {
    let out = "";
    for (let i = 0; i < n; i++) out += this.mark;
    this.mark = `${this.mark}+`;
    return out;
  }
}
const stars = new Repeater("*");
app.get("/", function handler(req, res) {
  res.send(stars.repeat(Number(req.query.n)));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
