// Keeps users and their passwords: POST /users, POST /sessions, both { "name", "password" }.
import { pbkdf2Sync, randomUUID } from "node:crypto";
import bcrypt from "bcryptjs";
import express from "express";

const ROUNDS = Number(process.env.ROUNDS ?? 10);

const users = new Map();
const sessions = new Map();
const app = express();

app.use(express.json());

app.post("/users", async (req, res) => {
  const { name, password } = req.body;
  if (typeof name !== "string" || typeof password !== "string")
    return res.status(400).json({ error: "who?" });
  if (users.has(name)) return res.status(409).json({ error: `${name} is taken` });
  users.set(name, null); // taken from now on, also while the hash is being made
  const hash = await bcrypt.hash(password, ROUNDS);
  users.set(name, hash);
  res.status(201).json({ name, users: users.size });
});

app.post("/sessions", async (req, res) => {
  const { name, password } = req.body;
  const hash = users.get(name);
  const ok = typeof hash === "string" && (await bcrypt.compare(password, hash));
  if (!ok) return res.status(403).json({ error: "wrong name or password" });
  const token = randomUUID();
  sessions.set(token, name);
  res.status(201).json({ name, sessions: sessions.size });
});

// A key from a password, for whoever encrypts at home.
app.post("/keys", function deriveKey(req, res) {
  const { password, salt } = req.body;
  const key = pbkdf2Sync(password, salt, ROUNDS * 1000, 32, "sha512");
  res.json({ key: key.toString("base64") });
});

app.get("/health", (req, res) => {
  res.json({ users: users.size, sessions: sessions.size });
});

app.use((err, req, res, next) => {
  res.status(err.status ?? 500).json({ error: err.message, code: err.code });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
