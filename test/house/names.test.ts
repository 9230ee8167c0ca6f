import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn, type SourceFile, withoutComments } from "./source.js";

/** Names that two files may export, and why. */
const TWINS: Readonly<Record<string, string>> = {};

function sharedNames(files: readonly SourceFile[]): string[] {
  const where = new Map<string, string[]>();
  for (const { path, text } of files) {
    const declared = /^export (?:declare )?(?:abstract )?(?:class|interface|type|enum) (\w+)/gm;
    for (const [, name = ""] of withoutComments(text).matchAll(declared))
      where.set(name, [...(where.get(name) ?? []), path]);
  }
  return [...where].flatMap(([name, paths]) =>
    paths.length > 1 && TWINS[name] === undefined ? [`${name}: ${paths.join(", ")}`] : [],
  );
}

test("one name for one thing: no two exported types or classes of src share a name", () => {
  assert.deepEqual(sharedNames(filesIn(["src"], [".ts"])), []);
});

test("a name that two files export is found", () => {
  const files = [
    { path: "src/a.ts", text: "export interface Place {}\nexport abstract class Room {}" },
    { path: "src/b.ts", text: "export type Place = number;\n// export class Room {}" },
  ];
  assert.deepEqual(sharedNames(files), ["Place: src/a.ts, src/b.ts"]);
});
