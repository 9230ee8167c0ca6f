const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  with (req.query) {
    res.send(`n ${n}`);
  }
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
