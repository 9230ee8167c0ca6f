const express = require("express");
const app = express();

function depth(n) {
  return n === 0 ? 0 : 1 + depth(n - 1);
}

app.get("/", function handler(req, res) {
  let reached;
  try {
    reached = depth(Number(req.query.n));
  } catch (error) {
    reached = error.name;
  }
  res.send(String(reached));
});

const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
