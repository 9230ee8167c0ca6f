var app = require('express')(),
  fs = require('fs'),
  a = 0,
  b = 0,
  c = 0;

app.get('/', function onReq(req, res) {
  var v = Number(req.query.v);
  b = v + 1;
  fs.readFile(__filename, function add() {
    a += v + b + c;
    fs.readFile(__filename, function end() {
      c = 1;
    });
  });
});
