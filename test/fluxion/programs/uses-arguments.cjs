const express = require("express");
const app = express();
app.get("/", function handler() {
  const res = arguments[1];
  res.send(`arguments ${arguments.length}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
