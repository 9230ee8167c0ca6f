import express from "express";
import QRCode from "qrcode";

const app = express();
const routes = [
  ["get", "/health", (req, res) => res.json({ ok: true })],
  ["get", "/codes", code],
];

async function code(req, res) {
  const text = String(req.query.text ?? "");
  if (text === "") return res.status(400).json({ error: "text is missing" });
  const svg = await QRCode.toString(text, { type: "svg", errorCorrectionLevel: "H" });
  res.type("svg").send(svg);
}

for (const [verb, path, handler] of routes) app[verb](path, handler);

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
