const express = require("express");
const isEven = (n) => (n === 0 ? true : isOdd(n - 1));
const isOdd = (n) => (n === 0 ? false : isEven(n - 1));
const app = express();
app.get("/:n", function handler(req, res) {
  res.send(isEven(Number(req.params.n) % 1000) ? "even" : "odd");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
