const ejs = require("ejs");
const express = require("express");
const Handlebars = require("handlebars");
const { marked } = require("marked");
const pug = require("pug");
const showdown = require("showdown");
const app = express();
const greeting = Handlebars.compile("<p>Hello {{name}}{{#each list}}, {{this}}{{/each}}</p>");
const page = pug.compile("p= name\nul\n  each n in list\n    li= n");
const converter = new showdown.Converter({ tables: true });
app.get("/ejs", function byEjs(req, res) {
  res.send(ejs.render("<p><%= name %></p>", { name: String(req.query.name) }));
});
app.get("/handlebars", function byHandlebars(req, res) {
  res.send(greeting({ name: String(req.query.name), list: [1, 2] }));
});
app.get("/marked", function byMarked(req, res) {
  res.send(marked.parse(`# ${req.query.name}`));
});
app.get("/pug", function byPug(req, res) {
  res.send(page({ name: String(req.query.name), list: ["a", "b"] }));
});
app.get("/showdown", function byShowdown(req, res) {
  res.send(converter.makeHtml(`*${req.query.name}*`));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
