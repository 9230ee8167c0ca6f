import express from "express";

const app = express();
app.get("/", async function handler(req, res) {
  const parts = await Promise.all([1, 2, 3].map(async (n) => n * Number(req.query.by)));
  if (parts[0] === 0) throw new Error("nothing");
  res.json(parts);
});
app.use(function failed(err, req, res, next) {
  res.status(500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
