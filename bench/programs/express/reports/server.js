const express = require("express");
const { exportReport } = require("./controllers/reports");

const app = express();
app.use(express.json({ limit: "2mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});
app.post("/reports", exportReport);

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
