import { readFileSync } from "node:fs";
import express from "express";
import asyncHandler from "express-async-handler";
import Handlebars from "handlebars";

const read = (name) => readFileSync(new URL(`./templates/${name}.hbs`, import.meta.url), "utf8");

Handlebars.registerHelper("money", (cents) => `${(cents / 100).toFixed(2)} EUR`);
const layout = Handlebars.compile(read("layout"));
const invoice = Handlebars.compile(read("invoice"));

const app = express();
app.use(express.json({ limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post(
  "/invoices",
  asyncHandler(async (req, res) => {
    const { customer, lines } = req.body;
    if (!Array.isArray(lines) || lines.length === 0) {
      res.status(400).json({ error: "an invoice needs lines" });
      return;
    }
    const rows = lines
      .filter(Boolean)
      .map((line, i) => ({ number: i + 1, ...line, total: line.quantity * line.price }));
    const total = rows.reduce((sum, row) => sum + row.total, 0);
    const body = invoice({ customer, rows, total });
    res.type("html").send(layout({ title: `Invoice for ${customer}`, body }));
  }),
);

app.use((err, req, res, next) => {
  res.status(500).json({ error: err.message });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
