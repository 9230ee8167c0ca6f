const { readFile } = require("node:fs/promises");
const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  readFile(__filename, "utf8").then(function reply(text) {
    res.send(`lines ${text.split("\n").length}`);
  });
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
