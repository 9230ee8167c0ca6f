const express = require("express");
const PDFDocument = require("pdfkit");

const app = express();
app.use(express.json());

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

function certificate(name, courses) {
  return new Promise((resolve, reject) => {
    const doc = new PDFDocument({ size: "A4" });
    const chunks = [];
    doc.on("data", (chunk) => chunks.push(chunk));
    doc.on("end", () => resolve(Buffer.concat(chunks)));
    doc.on("error", reject);
    doc.fontSize(28).text("Certificate", { align: "center" });
    doc.moveDown().fontSize(14).text(name);
    for (const course of courses) doc.text(`${course.title}: ${course.grade}`);
    doc.end();
  });
}

app.post("/certificates", async (req, res) => {
  const { name, courses } = req.body;
  const pdf = await certificate(name, courses.filter(Boolean));
  res.type("pdf").send(pdf);
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
