const { workbookOf } = require("../services/workbook");

const exportReport = async (req, res, next) => {
  try {
    const rows = (req.body.rows || []).filter(Boolean);
    const bytes = workbookOf(rows);
    res.attachment("report.xlsx");
    res.send(bytes);
  } catch (err) {
    next(err);
  }
};

module.exports = { exportReport };
