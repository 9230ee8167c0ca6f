const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  try {
    res.status(Number(req.query.status));
    res.send("sent");
  } catch (error) {
    res.status(500).send(`caught ${error.name}`);
  }
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
