const express = require("express");
const app = express();
let total = 0;
async function heavy(x) {
  let sum = 0;
  for (let i = 0; i < 3e5; i++) sum += i % 7;
  return sum + x;
}
app.get("/", async function handler(req, res) {
  total += await heavy(1);
  res.json(total);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
