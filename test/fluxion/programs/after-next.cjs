const express = require("express");
const app = express();
app.use(function watch(req, res, next) {
  next();
  console.log(res.statusCode, res.headersSent);
});
app.get("/", function handler(req, res) {
  res.status(201).send(`made ${req.query.n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
