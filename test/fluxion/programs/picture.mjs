import express from "express";
import { PNG } from "pngjs";
const app = express();
app.get("/", function handler(req, res) {
  const size = Number(req.query.size);
  const png = new PNG({ width: size, height: size });
  for (let i = 0; i < size * size * 4; i++) png.data[i] = (i * 7) & 0xff;
  res.type("png").send(PNG.sync.write(png));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
