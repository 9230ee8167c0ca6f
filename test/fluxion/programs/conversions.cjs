const express = require("express");
const app = express();
const UNIT = "m";
const SIZES = [1, 2, 3];
const round = (n) => Math.round(n * 100) / 100;
class Length {
  constructor(n) {
    this.n = n;
  }
  toString() {
    return `${round(this.n)} ${UNIT}`;
  }
  toJSON() {
    return { length: round(this.n) };
  }
  [Symbol.toPrimitive](hint) {
    return hint === "number" ? round(this.n) : this.toString();
  }
}
class Sizes {
  *[Symbol.iterator]() {
    yield* SIZES;
  }
  static [Symbol.hasInstance](x) {
    return x === SIZES.length;
  }
}
const door = new Length(2.00499);
const all = { sizes: new Sizes(), doors: [door] };
app.get("/text", function text(req, res) {
  let out = "";
  for (const c of String(req.query.a)) out += c;
  res.send(`${out} ${door} ${[new Length(1.23456)].join()} ${String(all.doors)} ${3 instanceof Sizes}`);
});
app.get("/data", function data(req, res) {
  let sum = 0;
  for (const n of all.sizes) sum += n;
  res.type("json").send(JSON.stringify([sum, all.doors, +door, door < 3, { [door]: [...new Sizes()] }]));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
