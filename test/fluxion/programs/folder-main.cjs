const express = require("express");
const app = express();
const { kept } = require("./parts/folder");
const own = require("./parts/folder/own.cjs");
app.get("/add", function add(req, res) {
  own.kept.push(1);
  res.send("added");
});
app.get("/", function handler(req, res) {
  res.send(`kept ${kept.length}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
