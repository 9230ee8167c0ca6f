const express = require("express");
const app = express();
const seen = { n: 0 };
function heavy(x) {
  let n = 0;
  for (let i = 0; i < 1000; i++) n = (n * 31 + x + i) % 997;
  return n;
}
async function count() {
  await null;
  seen.n += 1;
}
app.get("/", function handler(req, res) {
  const { n } = seen;
  const told = [n];
  count();
  const value = heavy(Number(req.query.n));
  told.push(value);
  res.send(told.join());
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
