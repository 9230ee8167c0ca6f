const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  res.set("x-made", "1");
  const made = res.get("x-made");
  res.send(`made ${made} ${res.headersSent}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
