const express = require("express");
const patches = require("fast-json-patch");

const app = express();
app.use(express.json({ limit: "5mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post("/diff", async (req, res) => {
  const { before, after } = req.body;
  const operations = patches.compare(before, after);
  res.json({ operations });
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
