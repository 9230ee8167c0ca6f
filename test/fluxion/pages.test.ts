import assert from "node:assert/strict";
import { basename } from "node:path";
import { test } from "node:test";
import type { Pipeline } from "headwater/fluxion";
import { blocksOf } from "../house/blocks.js";
import { filesIn } from "../house/source.js";
import { compileText } from "./compiling.js";

/** What the examples of the pages take for granted. */
const AROUND = `
const express = require("express");
const fs = require("fs");
const md = new (require("markdown-it"))();
const { connect } = require("some-database");
const socket = require("some-socket");
const summarize = require("some-package");
const app = express();
const pages = new Map();
const files = ["a", "b"];
async function apply(task, n) { for (const each of [1]) n += each; return task(n); }
function render(...parts) { let out = ""; for (const part of parts) out += md.render(String(part)); return out; }
`;

/** Codes that are thrown, and the one about a whole package (fluxion/idioms): not told of a part of a program. */
const ELSEWHERE = ["HW-7001", "HW-7014", "HW-7016"];

const pages = filesIn(["docs/errors"], [".md"]).filter(({ path }) => /HW-70\d\d\.md$/.test(path));

for (const { path, text } of pages) {
  const code = basename(path, ".md");
  if (ELSEWHERE.includes(code)) continue;
  const blocks = blocksOf(text).filter(({ language }) => language === "js");
  const compiled = (example: string) => {
    const declared = [...example.matchAll(/^const (?:\{ )?(\w+)/gm)].map(([, name]) => name);
    const around = AROUND.split("\n").filter(
      (line) => !declared.some((name) => new RegExp(`\\b${name}\\b.*=`).test(line)),
    );
    return compileText(`${around.join("\n")}\n${example}`).pipeline;
  };
  test(`the example of ${path} is refused with ${code}, and after the change its heavy work goes`, () => {
    const [example, fixed] = blocks;
    assert.ok(example, "there is an example");
    const told = ({ diagnostics, uncut }: Pipeline) => [...diagnostics, ...uncut].map((each) => each.code);
    assert.ok(told(compiled(example.text)).includes(code));
    if (fixed === undefined) return;
    const { stages, diagnostics, uncut } = compiled(fixed.text);
    assert.deepEqual(uncut, []);
    assert.notDeepEqual(stages, [], JSON.stringify(diagnostics.map(({ reason }) => reason)));
  });
}
