import { gunzipSync, gzipSync } from "node:zlib";
import express from "express";

const app = express();
app.get("/", function handler(req, res) {
  const packed = gzipSync("x".repeat(Number(req.query.n)));
  res.send(`${gunzipSync(packed).length}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
