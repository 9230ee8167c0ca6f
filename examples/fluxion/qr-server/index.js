// QR codes as SVG or PNG: GET /qr.svg?text=..., GET /qr.png?text=...
const express = require("express4");
const QRCode = require("qrcode");

const TEXT_MAX = 1000;

const app = express();

app.get("/qr.svg", async function svg(req, res, next) {
  const text = String(req.query.text || "");
  if (text === "" || text.length > TEXT_MAX)
    return res.status(400).json({ error: "text is missing or too long" });
  try {
    const picture = await QRCode.toString(text, { type: "svg", errorCorrectionLevel: "H", margin: 2 });
    res.set("cache-control", "public, max-age=86400").type("svg").send(picture);
  } catch (error) {
    next(error);
  }
});

app.get("/qr.png", async function png(req, res, next) {
  const text = String(req.query.text || "");
  if (text === "" || text.length > TEXT_MAX)
    return res.status(400).json({ error: "text is missing or too long" });
  try {
    const picture = await QRCode.toBuffer(text, { scale: 8 });
    res.type("png").send(picture);
  } catch (error) {
    next(error);
  }
});

app.get("/modules", function modules(req, res) {
  const { modules } = QRCode.create(String(req.query.text), {});
  res.json({ size: modules.size, dark: modules.data.reduce((sum, bit) => sum + bit, 0) });
});

app.use(function failed(err, req, res, next) {
  res.status(500).json({ error: err.message });
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
