const express = require("express");
const app = express();
let underWay = 0;
app.use(function counted(req, res, next) {
  underWay += 1;
  res.set("x-under-way", String(underWay));
  res.on("finish", () => {
    underWay -= 1;
  });
  next();
});
app.get("/", function handler(req, res) {
  let n = 0;
  for (let i = 0; i < 1e6; i++) n = (n * 31 + i) % 997;
  res.send(`made ${n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
