import express from "express";

const app = express();
async function total(list) {
  await null;
  return list.reduce((sum, n) => sum + n, 0);
}
app.get("/", async function handler(req, res) {
  const list = [1, 2, 3];
  const pending = total(list);
  list.push(Number(req.query.n));
  res.send(`total ${await pending}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
