const express = require("express");
const app = express();
app.locals.title = "one";
app.engine("own", (file, options, done) => done(null, `<${options.title}>`));
app.set("views", `${__dirname}/parts`);
function sum(to) {
  let all = 0;
  for (let i = 0; i < to; i++) all += i;
  return all;
}
function counted(req, res) {
  res.send(String(sum(1000)));
}
app.get("/counted", counted);
app.get("/length", (req, res) => {
  res.send(`${counted.length} ${sum(10)}`);
});
app.get("/stack", function stack(req, res) {
  let lines;
  try {
    throw new Error("own");
  } catch (error) {
    lines = error.stack.split("\n").length;
  }
  res.send(`${lines > 2} ${sum(1000)}`);
});
app.get("/page", function page(req, res) {
  res.set("x-sum", String(sum(1000)));
  res.render(`looked-at.own`);
});
app.get("/title", (req, res) => {
  app.locals.title = req.query.to;
  res.send("set");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
