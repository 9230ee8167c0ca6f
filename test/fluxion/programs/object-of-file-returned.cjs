const express = require("express");
const app = express();
const table = { a: { k: 1 } };
const seen = new Map();
function pick() {
  let sum = 0;
  for (let i = 0; i < 3e5; i++) sum += i % 7;
  return sum > 0 ? table.a : null;
}
app.get("/", async function handler(req, res) {
  const picked = await pick();
  seen.set(picked, (seen.get(picked) || 0) + 1);
  res.json(seen.get(picked));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
