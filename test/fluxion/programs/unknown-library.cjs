const express = require("express");
const ms = require("ms");
const app = express();
app.get("/", function handler(req, res) {
  res.send(String(ms(String(req.query.text))));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
