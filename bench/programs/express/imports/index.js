import { parse } from "csv-parse/sync";
import express from "express";

const app = express();

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

function summaryOf(text) {
  const rows = parse(text, { columns: true, skip_empty_lines: true, trim: true });
  const byCountry = {};
  for (const row of rows) {
    byCountry[row.country] = (byCountry[row.country] ?? 0) + Number(row.amount);
  }
  return { rows: rows.length, byCountry };
}

app.post("/imports", express.text({ type: "text/csv", limit: "5mb" }), async (req, res) => {
  const summary = summaryOf(req.body);
  res.status(200).json(summary);
});

app.use((err, req, res, next) => {
  res.status(422).json({ error: err.message });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
