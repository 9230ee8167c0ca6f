const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  let sum = 0;
  for (let i = 0; i < 1000; i++) sum += i * req.query.by;
  res.send(`sum ${sum}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
