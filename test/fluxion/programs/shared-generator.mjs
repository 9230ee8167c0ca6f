import express from "express";

function* numbers() {
  for (let n = 1; ; n++) yield n;
}
const ids = numbers();
const app = express();
app.get("/", function handler(req, res) {
  res.send(`id ${ids.next().value}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
