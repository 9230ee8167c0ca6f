const express = require("express");
const app = express();
const users = new Map([["b", { visits: 0 }]]);
function heavy() {
  let sum = 0;
  for (let i = 0; i < 3e5; i++) sum += i % 7;
  return sum;
}
app.use((req, res, next) => {
  req.user = users.get("b");
  next();
});
app.get("/", function handler(req, res) {
  const user = users.get("b");
  user.visits++;
  const sum = heavy();
  res.json([sum, user.visits, req.user.visits]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
