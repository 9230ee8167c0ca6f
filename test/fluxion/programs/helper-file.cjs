const express = require("express");
const { shout } = require("./parts/shout.cjs");
const app = express();
app.get("/", function handler(req, res) {
  res.send(shout(String(req.query.text)));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
