const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  if (req.query.ok === undefined) throw Object.assign(new TypeError("no ok"), { status: 418 });
  res.send("fine");
});
app.use(function failed(err, req, res, next) {
  res.status(err.status).send(`${err.name}: ${err.message} ${err instanceof TypeError}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
