/** All documents as CSV, in the order of a field of theirs, with what can be said of each. */
async function report(documents, field) {
  const rows = documents.map(({ id, version, body }) => {
    const by = field === "id" ? id : String(body[field] ?? "");
    return { by, line: [id, version, by, JSON.stringify(body).length, words(body)].map(quoted).join(",") };
  });
  rows.sort((a, b) => (a.by < b.by ? -1 : a.by > b.by ? 1 : 0));
  return ["id,version,by,bytes,words", ...rows.map(({ line }) => line)].join("\n");
}

function words(value) {
  if (typeof value === "string") return value.split(/\s+/).filter(Boolean).length;
  if (value === null || typeof value !== "object") return 0;
  return Object.values(value).reduce((sum, each) => sum + words(each), 0);
}

function quoted(value) {
  return `"${String(value).replaceAll('"', '""')}"`;
}

module.exports = { report };
