import { readFile } from "node:fs/promises";
import { type Code, codes, HeadwaterError } from "../errors.js";
import { didYouMean } from "../suggest.js";
import type { CliCommand } from "./command.js";

const PAGES = new URL("../../docs/errors/", import.meta.url);

export const explain: CliCommand = {
  name: "explain",
  operands: ["[CODE]"],
  summary: "print the page of an error code, or list all codes",
  details:
    "Prints what an error means, an example that causes it, the reason for the rule behind it, and how to " +
    "fix it. CODE may be written as HW-1001, hw-1001 or 1001.",
  options: {},
  async run({ operands: [written], flags }, terminal) {
    const json = flags.has("json");
    if (written === undefined) {
      for (const [code, [consequence, title]] of Object.entries(codes)) {
        terminal.out(json ? JSON.stringify({ code, title, consequence }) : `${code}  ${title}`);
      }
      return 0;
    }
    const code = codeFrom(written);
    const page = await readFile(new URL(`${code}.md`, PAGES), "utf8");
    const [consequence, title] = codes[code];
    terminal.out(json ? JSON.stringify({ code, title, consequence, page }) : page.trimEnd());
    return 0;
  },
};

function codeFrom(written: string): Code {
  const wanted = /^\d+$/.test(written) ? `HW-${written}` : written.toUpperCase();
  const known = Object.keys(codes) as Code[];
  const code = known.find((each) => each === wanted);
  if (code !== undefined) return code;
  throw new HeadwaterError(
    "HW-2001",
    `There is no error code "${written}".${didYouMean(wanted, known)} \`headwater explain\` lists all codes.`,
  );
}
