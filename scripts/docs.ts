import { resolve } from "node:path";
import { buildSite } from "./site/build.js";

/** `npm run docs [-- FOLDER]` builds the documentation as a web site, into `site` unless told otherwise. Any web server can serve it. */

const folder = resolve(process.argv[2] ?? "site");
const { pages } = buildSite(folder);
console.log(
  `${pages} pages in ${folder}. Look at them with: npx --yes serve ${folder}, or any other web server.`,
);
