import { createServer } from "node:http";

const server = createServer(function handler(req, res) {
  const body = Buffer.from(`${req.method} ${req.url}`.repeat(10));
  res.writeHead(200, { "content-length": body.length, "x-kind": "buffer" });
  res.end(body);
});
server.listen(0, () => console.log(`listening on ${server.address().port}`));
