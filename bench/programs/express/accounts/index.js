import bcrypt from "bcryptjs";
import express from "express";
import jwt from "jsonwebtoken";
import { z } from "zod";

const SECRET = process.env.JWT_SECRET ?? "for development only";
const Credentials = z.object({ email: z.string().email(), password: z.string().min(8) });
const users = new Map([["ada@example.test", { id: 1, hash: bcrypt.hashSync("correct horse", 8) }]]);

const app = express();
app.use(express.json());

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post("/login", async (req, res) => {
  const { email, password } = Credentials.parse(req.body);
  const user = users.get(email);
  const isRight = user !== undefined && (await bcrypt.compare(password, user.hash));
  if (!isRight) return res.status(401).json({ error: "wrong email or password" });
  const token = jwt.sign({ sub: String(user.id) }, SECRET, { expiresIn: "1h" });
  res.json({ token });
});

app.use((err, req, res, next) => {
  res.status(400).json({ error: err.message });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
