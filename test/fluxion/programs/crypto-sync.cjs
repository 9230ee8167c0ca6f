const crypto = require("node:crypto");
const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  const key = crypto.pbkdf2Sync(String(req.query.password), "salt", 1000, 16, "sha256");
  res.send(key.toString("hex"));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
