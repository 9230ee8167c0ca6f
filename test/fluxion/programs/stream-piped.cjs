const express = require("express");
const app = express();
app.post("/", function handler(req, res) {
  req.pipe(res);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
