const express = require("express");
const getRawBody = require("raw-body");
const app = express();
function bodyParser(limit) {
  return function saveBody(req, res, next) {
    getRawBody(req, { expected: req.headers["content-length"], limit: limit }, function parsed(err, buffer) {
      req.body = buffer;
      next(err);
    });
  };
}
app.post("/", bodyParser(64), function reply(req, res) {
  res.send(`got ${req.body.length}: ${req.body}`);
});
app.use(function failed(err, req, res, next) {
  res.status(err.status).send(err.type);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
