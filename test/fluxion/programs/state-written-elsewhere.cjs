const express = require("express");
const app = express();
let greeting = "hello";
app.get("/set/:to", function set(req, res) {
  greeting = req.params.to;
  res.send("ok");
});
app.get("/", function handler(req, res) {
  res.send(`${greeting} ${req.query.name}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
