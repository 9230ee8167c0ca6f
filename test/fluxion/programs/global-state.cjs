const express = require("express");
const app = express();
globalThis.seen = 0;
app.get("/", function handler(req, res) {
  globalThis.seen += 1;
  res.send(`seen ${globalThis.seen}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
