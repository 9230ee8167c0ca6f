import express from "express";

class Tally {
  private n = 0;
  next(): number {
    this.n += 1;
    return this.n;
  }
}
const tally = new Tally();
const app = express();
app.get("/", function handler(_req, res) {
  res.send(`tally ${tally.next()}`);
});
const server = app.listen(0, () =>
  console.log(`listening on ${(server.address() as { port: number }).port}`),
);
