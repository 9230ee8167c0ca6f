const less = require("less");
const express = require("express");
const app = express();
app.get("/", function style(req, res) {
  less.render(req.query.text, {}, function styled(err, output) {
    res.send(err ? err.message : output.css);
  });
});
app.use(function failed(err, req, res, next) {
  res.status(500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
