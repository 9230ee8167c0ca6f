// A store of JSON documents in memory: PUT, GET and DELETE /documents/:id, and a report over all of them.
const express = require("express");
const { report } = require("./report");

const app = express();
const documents = new Map();
let version = 0;

app.use(express.json());

app.put("/documents/:id", function put(req, res) {
  const isNew = !documents.has(req.params.id);
  version += 1;
  documents.set(req.params.id, { id: req.params.id, version, body: req.body });
  res.status(isNew ? 201 : 200).json({ version });
});

app.get("/documents/:id", function get(req, res) {
  const found = documents.get(req.params.id);
  if (found === undefined) return res.status(404).json({ error: "not found" });
  res.set("etag", `"${found.version}"`).json(found.body);
});

app.delete("/documents/:id", function remove(req, res) {
  res.status(documents.delete(req.params.id) ? 204 : 404).end();
});

// Reads every document, and takes long when there are many.
app.get("/report", async function showReport(req, res) {
  const csv = await report([...documents.values()], String(req.query.by || "id"));
  res.set("x-version", String(version)).type("csv").send(csv);
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
