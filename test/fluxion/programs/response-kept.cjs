const express = require("express");
const app = express();
const waiting = [];
app.get("/wait", function wait(req, res) {
  waiting.push(res);
  if (waiting.length === 2) for (const each of waiting.splice(0)) each.send("both");
});
app.get("/", function handler(req, res) {
  res.send(`waiting ${waiting.length}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
