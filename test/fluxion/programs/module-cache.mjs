import express from "express";

const cache = new Map();
const app = express();
app.get("/:key", function handler(req, res) {
  const { key } = req.params;
  if (!cache.has(key)) cache.set(key, `made ${cache.size}`);
  res.send(cache.get(key));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
