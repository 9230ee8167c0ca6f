const express = require("express");
const app = express();
String.prototype.shout = function () {
  return `${this.toUpperCase()}!`;
};
app.get("/", function handler(req, res) {
  res.send(String(req.query.text).shout());
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
