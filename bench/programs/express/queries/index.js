const express = require("express");
const { parse, validate, print, buildSchema, Source } = require("graphql");

const schema = buildSchema(`
  type Author { id: ID!, name: String!, books(first: Int): [Book!]! }
  type Book { id: ID!, title: String!, author: Author!, related(first: Int): [Book!]! }
  type Query { book(id: ID!): Book, books(first: Int): [Book!]! }
`);

function check(text) {
  const document = parse(new Source(text));
  const errors = validate(schema, document);
  return { valid: errors.length === 0, errors: errors.map((each) => each.message), text: print(document) };
}

const app = express();
app.use(express.json({ limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post("/check", async (req, res) => {
  res.json(check(req.body.query));
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
