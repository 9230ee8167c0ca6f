const express = require("express");
const app = express();
const secret = 41;
app.get("/", function handler(req, res) {
  res.send(String(eval("secret + 1")));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
