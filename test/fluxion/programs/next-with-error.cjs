const express = require("express4");
const app = express();
app.use(function check(req, res, next) {
  if (req.query.token !== "t") return next(Object.assign(new Error("who?"), { status: 401 }));
  next();
});
app.get("/", function reply(req, res) {
  res.send("hello");
});
app.use(function failed(err, req, res, next) {
  res.status(err.status).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
