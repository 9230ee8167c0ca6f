const less = require("less");
const bcrypt = require("bcryptjs");
const QRCode = require("qrcode");
const express = require("express");
const app = express();
const sheets = {};
app.get("/style", function style(req, res, next) {
  const options = { compress: req.query.small !== undefined, filename: "style.less" }
  less.render(String(req.query.text), options, function styled(err, output) {
    if (err) return next(err)
    sheets[req.query.text] = output.css
    res.type("css").send(`${Object.keys(sheets).length} ${output.css}`)
  })
})
app.get("/password", function password(req, res) {
  const [given] = [String(req.query.password)];
  if (given === "none") return res.send("no password");
  return bcrypt.hash(given, "$2a$04$abcdefghijklmnopqrstuu", (err, hash) => res.send(err?.message ?? hash));
});
app.get("/code", (req, res, next) =>
  QRCode.toDataURL(String(req.query.text), { scale: 1 }, function drawn(err, url) {
    if (err) next(err);
    else res.send(url);
  }),
);
app.use(function failed(err, req, res, next) {
  res.status(500).send(`${err.name}: ${err.message} ${err.line}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
