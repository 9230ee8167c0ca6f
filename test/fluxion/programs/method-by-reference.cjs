const express = require("express");
const app = express();
const log = [];
app.get("/add", function add(req, res) {
  [req.query.n].forEach(log.push, log);
  res.send("added");
});
app.get("/", function handler(req, res) {
  res.send(`log ${log.join()}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
