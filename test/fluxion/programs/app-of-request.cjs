const express = require("express");
const app = express();
app.locals.visits = { n: 0 };
app.get("/visit", function visit(req, res) {
  req.app.locals.visits.n += 1;
  res.send("visited");
});
app.get("/", function handler(req, res) {
  res.send(`visits ${app.locals.visits.n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
