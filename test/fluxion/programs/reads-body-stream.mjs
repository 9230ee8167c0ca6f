import express from "express";

const app = express();
app.post("/", async function handler(req, res) {
  let text = "";
  for await (const chunk of req) text += chunk;
  res.send(`length ${text.length}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
