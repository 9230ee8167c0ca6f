import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiPages } from "./site/api-pages.js";

/** `npm run api` writes the API reference, `docs/api`, from the declarations of the built package. */

const folder = fileURLToPath(new URL("../docs/api/", import.meta.url));
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) rmSync(`${folder}${name}`);
for (const [name, text] of apiPages()) writeFileSync(`${folder}${name}`, text);
