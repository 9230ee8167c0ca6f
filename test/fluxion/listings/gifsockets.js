var express = require('express'),
  app = express(),
  routes = require('gifsockets-middleware'),
  getRawBody = require('raw-body');

function bodyParser(limit) {
  return function saveBody(req, res, next) {
    getRawBody(req, {
      expected: req.headers['content-length'],
      limit: limit
    }, function (err, buffer) {
      req.body = buffer;
      next();
    });
  };
}

app.post('/image/text', bodyParser(1 * 1024 * 1024),
  routes.writeTextToImages);
app.listen(8000);
