import express from "express";

const seen = new WeakMap();
const app = express();
app.use(function mark(req, res, next) {
  seen.set(req, Date.now());
  next();
});
app.get("/", function handler(req, res) {
  res.send(`marked ${seen.has(req)}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
