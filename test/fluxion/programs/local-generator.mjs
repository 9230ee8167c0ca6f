import express from "express";

function* primes(max) {
  outer: for (let n = 2; n <= max; n++) {
    for (let d = 2; d * d <= n; d++) if (n % d === 0) continue outer;
    yield n;
  }
}
const app = express();
app.get("/", function handler(req, res) {
  res.json([...primes(Number(req.query.max))]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
