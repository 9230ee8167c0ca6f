const vm = require("node:vm");
const express = require("express");
const app = express();
const soon = vm.runInThisContext("(done) => done()");
app.use(function once(req, res, next) {
  if (req.query.by === undefined) return next(new Error("by what?"));
  soon((err) => {
    if (err) return next(err);
    soon(() => next());
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
