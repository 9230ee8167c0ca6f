const vm = require("node:vm");
const express = require("express");
const app = express();
const soon = vm.runInThisContext("(done) => done()");
app.use(function twice(req, res, next) {
  soon(() => next());
  soon(() => {
    if (!res.headersSent) next(new Error("nobody has answered"));
  });
});
app.get("/", function handler(req, res) {
  let sum = 0;
  for (let i = 0; i < 1000; i++) sum += i % Number(req.query.by);
  res.send(`sum ${sum}`);
});
app.use(function failed(err, req, res, next) {
  res.status(500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
