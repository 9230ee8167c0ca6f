const express = require("express");
const app = express();
const begun = new Date(0);
const bytes = new Uint8Array(4);
app.get("/set", function set(req, res) {
  Date.prototype.setTime.call(begun, Number(req.query.n));
  res.send("set");
});
app.get("/move", function move(req, res) {
  structuredClone(bytes, { transfer: [bytes.buffer] });
  res.send("moved");
});
app.get("/", function handler(req, res) {
  res.json([begun.getTime(), bytes.length]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
