import express from "express";

const app = express();
app.use(express.json());
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
app.post("/", function handler(req, res) {
  res.json(sorted(req.body));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
