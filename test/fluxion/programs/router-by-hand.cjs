const express = require("express");
const app = express();
const router = express.Router();
let left = 0;
app.use(function through(req, res, next) {
  router(req, res, next);
  left += 1;
  console.log("through", res.headersSent);
});
app.get("/", function handler(req, res) {
  let n = 0;
  for (let i = 0; i < 1000; i++) n = (n * 31 + i) % 997;
  res.send(`made ${n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
