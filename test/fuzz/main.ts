import { parseArgs } from "node:util";
import { RULES } from "#src/fluxion/pipeliner/whole/rules.js";
import { runCampaign, shown } from "../fluxion/fuzz/campaign.js";
import { fuzzSql } from "../sql/campaign.js";

/**
 * `npm run fuzz -- fluxions --minutes 10`: looks for random programs that do something else when they are compiled. `--seed 17
 * --programs 1` tries one again; `--without RULE` plants a bug: a compiler that does not heed one of its rules,
 * `--trusting` one that takes packages at their word that only look as if they computed.
 *
 * `npm run fuzz -- sql --minutes 10`: looks for random queries that add up to something else than what PostgreSQL answers.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string" },
    programs: { type: "string" },
    seed: { type: "string", default: "1" },
    findings: { type: "string", default: "1" },
    large: { type: "boolean", default: false },
    without: { type: "string" },
    trusting: { type: "boolean", default: false },
  },
});

if (positionals.join() === "sql")
  process.exit(await fuzzSql({ seed: Number(values.seed), minutes: Number(values.minutes ?? 1) }));

const without = RULES.filter((rule) => rule === values.without);
if (positionals.join() !== "fluxions" || (values.without !== undefined && without.length === 0)) {
  console.error(
    `usage: npm run fuzz -- sql [--minutes N] [--seed N]\n       npm run fuzz -- fluxions [--minutes N | --programs N] [--seed N] [--findings N] [--large] [--without RULE] [--trusting]\nrules: ${RULES.join(", ")}`,
  );
  process.exit(2);
}

const until = performance.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
const most = Number(values.programs ?? (values.minutes === undefined ? 1000 : Number.POSITIVE_INFINITY));
const began = performance.now();
const campaign = await runCampaign({
  seed: Number(values.seed),
  shrinks: !values.large,
  compile: { without },
  trusting: values.trusting,
  goesOn: (programs, findings) =>
    programs < most && findings < Number(values.findings) && performance.now() < until,
});
for (const finding of campaign.findings) console.log(`${shown(finding)}\n`);
const { programs, withStages, moved, findings } = campaign;
const seconds = Math.round((performance.now() - began) / 1000);
console.log(
  `${programs} programs in ${seconds} s, ${withStages} with stages, ${moved} calls elsewhere, ${findings.length} that differ; next seed ${Number(values.seed) + programs}`,
);
process.exit(findings.length === 0 ? 0 : 1); // programs may have left something that keeps the process alive
