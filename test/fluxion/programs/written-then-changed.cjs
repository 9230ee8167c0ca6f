const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  const bytes = Buffer.from("abc");
  res.write(bytes);
  bytes[0] = 120;
  res.end(bytes);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
