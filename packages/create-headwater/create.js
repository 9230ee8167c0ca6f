#!/usr/bin/env node
// `npm create headwater my-app -- --template game` is `headwater init my-app --template game`.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const headwater = dirname(createRequire(import.meta.url).resolve("headwater/package.json"));
process.argv.splice(2, 0, "init");
await import(pathToFileURL(join(headwater, "dist", "cli", "main.js")).href);
