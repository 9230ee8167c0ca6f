const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  console.log("begin", { query: req.query.n });
  const squares = [1, 2, 3].map((n) => n * n);
  console.error("squares %j", squares);
  res.send(String(squares));
  console.log("end");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
