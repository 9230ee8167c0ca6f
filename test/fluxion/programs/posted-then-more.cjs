const less = require("less");
const express = require("express");
const app = express();
let styled = "";
app.get("/", function atOnce(req, res) {
  less.render(String(req.query.text), {}, function (err, output) {
    styled = output.css;
  });
  res.send(styled);
});
app.get("/both", function both(req, res) {
  for (const color of ["red", "blue"]) {
    less.render(`a { color: ${color}; }`, {}, function (err, output) {
      res.write(output.css);
      if (color === "blue") res.end();
    });
  }
});
app.get("/tried", function tried(req, res) {
  try {
    less.render(undefined, {}, function (err, output) {
      res.send(output.css);
    });
  } catch (error) {
    res.send(error.name);
  }
});
app.get("/plugged", function plugged(req, res) {
  const plugin = { install: (_, manager) => manager.addPreProcessor({ process: (text) => `${text} b { top: 0 }` }) };
  less.render(String(req.query.text), { plugins: [plugin] }, function (err, output) {
    res.send(output.css);
  });
});
app.get("/self", function self(req, res) {
  less.render("a { top: 0 }", {}, function () {
    res.send(typeof this);
  });
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
