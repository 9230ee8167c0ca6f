const ejs = require("ejs");
const express = require("express");
const Handlebars = require("handlebars");
const { marked } = require("marked");
const md = new (require("markdown-it"))();
md.renderer.rules.heading_open = () => "<h1 class=x>";
Object.assign(md.options, { html: true });
md.core.ruler.push("last", function last() {});
marked.use({ gfm: false });
Handlebars.registerHelper("loud", (text) => `${String(text).toUpperCase()}!`);
const greeting = Handlebars.compile("<p>{{loud name}}</p>");
const st = { n: 0 };
const app = express();
app.get("/md", function byRule(req, res) {
  res.send(md.render(`# ${req.query.name}\n<b>b</b>`));
});
app.get("/marked", function byMarked(req, res) {
  res.send(marked.parse(`~~${req.query.name}~~`));
});
app.get("/handlebars", function byHelper(req, res) {
  res.send(greeting({ name: String(req.query.name) }));
});
let hits = 0;
app.get("/env", function keepsEnv(req, res) {
  hits++;
  const env = {};
  const html = md.render("[a]: http://x\n\n[a]", env);
  res.json([html, Object.keys(env)]);
});
app.get("/ejs", function counts(req, res) {
  res.send(ejs.render("<% st.n++ %><%= st.n %>", { st }));
});
app.get("/own", function ownEnv(req, res) {
  const env = {};
  const html = md.render("[a]: http://x\n\n[a]", env);
  res.json([html, Object.keys(env)]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
