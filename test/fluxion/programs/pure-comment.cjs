const express = require("express");
const slugs = require("./parts/unknown.cjs");
const app = express();
app.get("/", function handler(req, res) {
  const slug = /* headwater: pure */ slugs.make(String(req.query.text));
  res.send(slug);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
