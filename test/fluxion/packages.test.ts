import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compiled, plain } from "./both-ways.js";

const folder = join(import.meta.dirname, "packages");
const XML = [
  "POST / <a><b>1</b><b> two </b></a>",
  "POST / <a>",
  "POST /",
  `POST / <a>${"x".repeat(2000)}</a>`,
];

/** Published packages, compiled by name along with a small program that uses them. */
const packages: Readonly<Record<string, readonly string[]>> = {
  "body-parser-xml": XML,
  "express-xml-bodyparser": XML,
  "express-less": ["GET /page.css", "GET /wrong.css", "GET /none.css", "POST /page.css", "GET /page"],
  "express-pug-static": ["GET /pages/page.html", "GET /pages/none.html", "GET /other"],
  "express-simple-sitemap": ["GET /sitemap.xml", "GET /"],
  "serve-markdown": ["GET /page.md", "GET /none.md"],
  "serve-favicon": ["GET /favicon.ico", "HEAD /favicon.ico", "POST /favicon.ico", "GET /"],
};

describe("published packages run as before when they are compiled along", { concurrency: 2 }, () => {
  for (const [name, requests] of Object.entries(packages)) {
    test(name, async () => {
      const asked = { file: join(folder, `${name}.cjs`), requests, packages: name };
      const [before, { stages: _, ...after }] = await Promise.all([plain(asked), compiled(asked)]);
      assert.deepEqual(after, before);
    });
  }
});
