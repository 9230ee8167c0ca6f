const express = require("express");
const app = express();
app.use(function parse(req, res, next) {
  req.parsed = { words: req.url.split("/").filter(Boolean), at: new Date(0) };
  next();
});
app.get(/.*/, function reply(req, res) {
  res.json({ ...req.parsed, isDate: req.parsed.at instanceof Date });
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
