import bcrypt from "bcryptjs";
import express from "express";

const users = new Map();
const app = express();
app.get("/register/:name", async function register(req, res) {
  const hash = await bcrypt.hash(String(req.query.password), 4);
  users.set(req.params.name, hash);
  res.send(`users ${users.size}`);
});
app.get("/login/:name", async function login(req, res) {
  const ok = await bcrypt.compare(String(req.query.password), users.get(req.params.name) ?? "");
  res.send(ok ? "welcome" : "no");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
