const express = require("express");
const app = express();
app.get("/set", function set(req, res) {
  process.env.GREETING = req.query.to;
  res.send("set");
});
app.get("/", function handler(req, res) {
  res.send(`${process.env.GREETING ?? "hello"}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
