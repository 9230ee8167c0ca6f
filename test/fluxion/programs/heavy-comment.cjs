const express = require("express");
const app = express();
/* headwater: heavy */
app.get("/", function handler(req, res) {
  res.send(`heavy ${req.query.n}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
