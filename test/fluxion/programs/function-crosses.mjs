import express from "express";

let calls = 0;
const app = express();
async function apply(task, n) {
  return task(n);
}
app.get("/", async function handler(req, res) {
  const twice = (n) => {
    calls += 1;
    return n * 2;
  };
  const result = await apply(twice, Number(req.query.n));
  res.send(`${result} ${calls}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
