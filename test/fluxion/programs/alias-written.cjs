const express = require("express");
const settings = { limit: 1 };
const same = settings;
const app = express();
app.get("/raise", function raise(req, res) {
  same.limit += 1;
  res.send("raised");
});
app.get("/", function handler(req, res) {
  res.send(`limit ${settings.limit}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
