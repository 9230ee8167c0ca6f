const express = require("express");
const app = express();
function heavy() {
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum += i % 7;
  return sum;
}
app.use((req, res, next) => {
  const timer = setTimeout(() => {
    if (!res.headersSent) res.status(503).send("too late");
  }, 1);
  res.on("finish", () => clearTimeout(timer));
  next();
});
app.get("/", function handler(req, res) {
  const sum = heavy();
  if (!res.headersSent) res.json(sum);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
