import express from "express";

const app = express();
app.get("/", function handler(req, res) {
  const words = String(req.query.text ?? "")
    .split(" ")
    .map((word) => word.toUpperCase());
  res.type("text").send(words.reverse().join(" "));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
