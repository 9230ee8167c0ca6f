import express from "express";
import showdown from "showdown";

const converter = new showdown.Converter({ tables: true, strikethrough: true });
const rendered = { count: 0 };

const wrap = (handler) => (req, res, next) => Promise.resolve(handler(req, res, next)).catch(next);

const app = express();
app.use(express.json({ limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});
app.get("/count", (req, res) => {
  res.json(rendered);
});
app.post(
  "/manuals",
  wrap(async (req, res) => {
    const html = converter.makeHtml(req.body.text);
    rendered.count += 1;
    res.type("html").send(html);
  }),
);

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
