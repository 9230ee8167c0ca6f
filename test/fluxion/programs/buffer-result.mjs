import express from "express";

const app = express();
app.get("/", function handler(req, res) {
  const bytes = Buffer.alloc(16, String(req.query.fill));
  bytes[0] = 0x21;
  res.type("application/octet-stream").send(bytes);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
