import express, { type Request, type Response } from "express";

interface Line {
  readonly n: number;
  readonly text: string;
}
type Lines = readonly Line[];

function lines(text: string): Lines {
  return text.split(",").map((each, n): Line => ({ n, text: each as string }));
}

const app = express();
app.get("/", function handler(req: Request<object, unknown, unknown, { text?: string }>, res: Response) {
  const all: Lines = lines(req.query.text ?? "a,b");
  res.json(all satisfies Lines);
});
const server = app.listen(0, () =>
  console.log(`listening on ${(server.address() as { port: number }).port}`),
);
