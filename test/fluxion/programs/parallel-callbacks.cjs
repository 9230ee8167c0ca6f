const fs = require("node:fs");
const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  let pending = 2;
  let total = 0;
  for (const file of [__filename, __filename]) {
    fs.stat(file, function counted(err, stat) {
      total += stat.size;
      pending -= 1;
      if (pending === 0) res.send(`total ${total > 0}`);
    });
  }
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
