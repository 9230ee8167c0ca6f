const express = require("express4");
const app = express();
app.get("/", function handler(req, res) {
  const value = JSON.parse(req.query.json);
  res.send(`value ${value.name.length}`);
});
app.use(function failed(err, req, res, next) {
  res.status(500).send(`${err.name}: ${err.message}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
