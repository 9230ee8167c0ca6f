const express = require("express");
const imagesRouter = require("./routes/images");

const app = express();

app.use(express.json());
app.get("/health", (req, res) => {
  res.json({ ok: true });
});
app.use("/images", imagesRouter);

app.use((err, req, res, next) => {
  res.status(err.status || 500).json({ error: err.message });
});

module.exports = app;
