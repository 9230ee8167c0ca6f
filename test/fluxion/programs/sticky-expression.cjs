const express = require("express");
const app = express();
const words = /\w+/g;
app.get("/", function handler(req, res) {
  const first = words.exec("one two three");
  res.send(String(first));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
