const express = require("express");
const app = express();
/* headwater: stay */
app.get("/", function handler(req, res) {
  res.send("stays");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
