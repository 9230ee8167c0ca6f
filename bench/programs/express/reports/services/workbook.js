const XLSX = require("xlsx");

function workbookOf(rows) {
  const sheet = XLSX.utils.json_to_sheet(rows);
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, "Report");
  return XLSX.write(book, { type: "buffer", bookType: "xlsx" });
}

module.exports = { workbookOf };
