const express = require("express");
const app = express();
let id = 0;
Object.defineProperty(app.request, "uid", {
  get() {
    return ++id;
  },
});
function heavy() {
  let sum = 0;
  for (let i = 0; i < 3e5; i++) sum += i % 7;
  return sum;
}
app.get("/", function handler(req, res) {
  res.json([heavy(), req.uid, req.uid]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
