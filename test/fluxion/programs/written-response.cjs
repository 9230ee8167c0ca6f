const http = require("node:http");
const server = http.createServer(function handler(req, res) {
  res.statusCode = 203;
  res.setHeader("content-type", "text/plain");
  for (let i = 0; i < 3; i++) res.write(`${i} of ${req.url}\n`);
  res.end();
});
server.listen(0, () => console.log(`listening on ${server.address().port}`));
