const express = require("express");
const app = express();
app.get("/", handler);
function handler(req, res) {
  res.send(fibonacci(12 + Number(req.query.n || 0)).toString());
}
function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
