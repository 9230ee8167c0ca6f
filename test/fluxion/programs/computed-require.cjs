const path = require("node:path");
const express = require("express");
const app = express();
const one = require("./parts/shared.json");
const other = require(path.join(__dirname, "parts", "shared.json"));
app.get("/add", function add(req, res) {
  other.n += 1;
  res.send("added");
});
app.get("/", function handler(req, res) {
  res.send(`n ${one.n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
