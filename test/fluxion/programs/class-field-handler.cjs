const express = require("express");
const app = express();
class Pages {
  title = "Hi";
  hits = 0;
  show = (req, res) => {
    this.hits++;
    res.json([this.title, this.hits, loops(req.query.a)]);
  };
  name = (req, res) => {
    res.json([this.title, loops(req.query.a)]);
  };
}
function loops(x) {
  let out = "";
  for (const c of String(x)) out += c;
  return out;
}
const pages = new Pages();
app.get("/show", pages.show);
app.get("/name", pages.name);
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
