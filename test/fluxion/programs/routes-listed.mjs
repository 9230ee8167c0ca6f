import express from "express";

const app = express();
const routes = [
  ["get", "/a", handler],
  ["all", "/b", (req, res) => res.send("b")],
];
const more = [{ verb: "get", path: "/c", answer: other }];

function handler(req, res) {
  res.send(String(req.query.text).repeat(3));
}
async function other(req, res) {
  res.send([...String(req.query.text)].reverse().join(""));
}

for (const [verb, path, answer] of routes) app[verb](path, answer);
more.forEach(({ verb, path, answer }) => {
  app[verb](path, answer);
});

const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
