const express = require("express");
const app = express();
let count = 0;
app.get("/", function handler(req, res) {
  count += 1;
  res.send(`count ${count}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
