// A chat that is one endless picture: whoever has GET /image open sees each text that is posted to /image/text as a new
// frame of the same GIF. After gifsockets-server.
const express = require("express4");
const getRawBody = require("raw-body");
const { frameOf, header, trailer } = require("./gif");
const { draw } = require("./draw");

const [WIDTH, HEIGHT] = [200, 64];

const app = express();
const connections = [];
let frames = 0;

function bodyParser(limit) {
  return function saveBody(req, res, next) {
    getRawBody(req, { expected: req.headers["content-length"], limit: limit }, function parsed(err, buffer) {
      req.body = buffer;
      next(err);
    });
  };
}

async function textToFrame(text) {
  return frameOf(WIDTH, HEIGHT, draw(text, WIDTH, HEIGHT));
}

app.get("/image", function openImage(req, res) {
  res.writeHead(200, { "content-type": "image/gif", "cache-control": "no-cache" });
  res.write(header(WIDTH, HEIGHT));
  connections.push(res);
  req.on("close", function leave() {
    connections.splice(connections.indexOf(res), 1);
  });
});

app.post("/image/text", bodyParser(1 * 1024 * 1024), async function writeText(req, res, next) {
  try {
    const frame = await textToFrame(req.body.toString());
    frames += 1;
    for (const connection of connections) connection.write(frame);
    res.status(204).end();
  } catch (error) {
    next(error);
  }
});

app.post("/preview", bodyParser(1 * 1024 * 1024), async function preview(req, res, next) {
  try {
    const frame = await textToFrame(req.body.toString());
    res.type("gif").send(Buffer.concat([header(WIDTH, HEIGHT), frame, trailer()]));
  } catch (error) {
    next(error);
  }
});

app.get("/status", function status(req, res) {
  res.json({ connections: connections.length, frames });
});

app.post("/image/close", function closeImages(req, res) {
  for (const connection of connections) connection.end(trailer());
  res.status(204).end();
});

const server = app.listen(process.env.PORT || 8000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
