const express = require("express");
const multer = require("multer");
const { thumbnail } = require("../services/thumbnail");

const router = express.Router();
const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 5 * 1024 * 1024 } });

router.post("/", upload.single("image"), async (req, res, next) => {
  try {
    if (!req.file) return res.status(400).json({ error: "no image" });
    const small = thumbnail(req.file.buffer, 96);
    res.type("png").send(small);
  } catch (err) {
    next(err);
  }
});

module.exports = router;
