import { createRequire } from "node:module";

interface Picture {
  readonly data: Buffer;
}
/** The package has no types. */
const { PNG } = createRequire(import.meta.url)("pngjs") as {
  PNG: { new (size: { width: number; height: number }): Picture; sync: { write(picture: Picture): Buffer } };
};

/** Whole Express programs with packages from npm, as teams write them, and a request to the heavy route of each. */
export interface ExpressProgram {
  readonly name: string;
  /** What it is made with, besides Express. */
  readonly packages: string;
  /** Below `bench/programs/express`. */
  readonly entry: string;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  body?(): string | Buffer;
}

const json = (value: unknown) => JSON.stringify(value);
const list = <T>(length: number, item: (i: number) => T): T[] => Array.from({ length }, (_, i) => item(i));

export const EXPRESS_PROGRAMS: readonly ExpressProgram[] = [
  {
    name: "thumbnails",
    packages: "multer, pngjs; bin/www",
    entry: "thumbnails/bin/www",
    method: "POST",
    path: "/images",
    contentType: "multipart/form-data; boundary=frontier",
    body: picture,
  },
  {
    name: "invoices",
    packages: "handlebars, express-async-handler",
    entry: "invoices/index.js",
    method: "POST",
    path: "/invoices",
    body: () => json({ customer: "Ada & Co", lines: list(600, lineOfInvoice) }),
  },
  {
    name: "wiki",
    packages: "markdown-it, sanitize-html; a controller with arrow fields",
    entry: "wiki/index.js",
    method: "POST",
    path: "/preview",
    body: () => json({ text: markdown(16) }),
  },
  {
    name: "accounts",
    packages: "bcryptjs, jsonwebtoken, zod",
    entry: "accounts/index.js",
    method: "POST",
    path: "/login",
    body: () => json({ email: "ada@example.test", password: "correct horse" }),
  },
  {
    name: "reports",
    packages: "xlsx",
    entry: "reports/server.js",
    method: "POST",
    path: "/reports",
    body: () =>
      json({ rows: list(120, (i) => ({ id: i, name: `item ${i}`, price: i * 1.5, paid: i % 2 === 0 })) }),
  },
  {
    name: "imports",
    packages: "csv-parse",
    entry: "imports/index.js",
    method: "POST",
    path: "/imports",
    contentType: "text/csv",
    body: () =>
      ["id,country,amount", ...list(1500, (i) => `${i},${["DE", "FR", "PT"][i % 3]},${i * 3}`)].join("\n"),
  },
  {
    name: "documents",
    packages: "fast-json-patch",
    entry: "documents/index.js",
    method: "POST",
    path: "/diff",
    body: () => json({ before: tree(5, 0), after: tree(5, 1) }),
  },
  {
    name: "queries",
    packages: "graphql",
    entry: "queries/index.js",
    method: "POST",
    path: "/check",
    body: () =>
      json({
        query: `{ ${list(60, (i) => `b${i}: book(id: ${i}) { id title author { name } related { id } }`).join(" ")} }`,
      }),
  },
  {
    name: "certificates",
    packages: "pdfkit",
    entry: "certificates/index.js",
    method: "POST",
    path: "/certificates",
    body: () => json({ name: "Ada", courses: list(30, (i) => ({ title: `Course ${i}`, grade: i % 6 })) }),
  },
  {
    name: "codes",
    packages: "qrcode; app[verb]",
    entry: "codes/index.js",
    method: "GET",
    path: `/codes?text=${"headwater".repeat(40)}`,
  },
  {
    name: "newsletter",
    packages: "pug",
    entry: "newsletter/index.js",
    method: "POST",
    path: "/newsletters",
    body: () =>
      json({ articles: list(120, (i) => ({ title: `News ${i}`, text: "It was said & done. ".repeat(20) })) }),
  },
  {
    name: "snippets",
    packages: "highlight.js; TypeScript with decorators",
    entry: "snippets/index.ts",
    method: "POST",
    path: "/snippets",
    body: () =>
      json({
        language: "javascript",
        code: "export const f = (a) => a.map((b) => [b, 'x'] + 1); // adds\n".repeat(60),
      }),
  },
  {
    name: "manuals",
    packages: "showdown; a wrapper for async handlers",
    entry: "manuals/index.js",
    method: "POST",
    path: "/manuals",
    body: () => json({ text: markdown(12) }),
  },
  {
    name: "articles",
    packages: "marked",
    entry: "articles/index.js",
    method: "POST",
    path: "/articles",
    body: () => json({ title: "Rivers", body: markdown(60) }),
  },
];

function lineOfInvoice(i: number): object {
  return { name: `Part <${i}>`, quantity: (i % 7) + 1, price: 100 + i };
}

function markdown(sections: number): string {
  return list(
    sections,
    (i) =>
      `## Section ${i}\n\nSome *text* with **marks**, a [link](http://headwater.test/${i}), "quotes" & more.\n\n` +
      `- one\n- two\n\n| a | b |\n|---|---|\n| ${i} | <b>x</b> |\n\n`,
  ).join("");
}

function tree(depth: number, change: number): unknown {
  if (depth === 0) return list(6, (i) => ({ id: i, text: `t${i === 3 ? change : 0}` }));
  return Object.fromEntries(list(4, (i) => [`k${i}`, tree(depth - 1, change)]));
}

function picture(): Buffer {
  const image = new PNG({ width: 320, height: 240 });
  for (let i = 0; i < image.data.length; i++) image.data[i] = (i * 7 + (i >> 8) * 13) & 255;
  const head =
    '--frontier\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
  return Buffer.concat([Buffer.from(head), PNG.sync.write(image), Buffer.from("\r\n--frontier--\r\n")]);
}
