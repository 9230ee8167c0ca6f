const express = require("express");
const app = express();
let hits = 0;
app.use(function look(req, res, next) {
  let sum = hits;
  for (let i = 0; i < 1000; i++) sum += i;
  req.seen = sum - 499500;
  next();
});
app.get("/", function count(req, res) {
  hits = req.seen + 1;
  res.send(`hit ${hits}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
