import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import hljs from "highlight.js";
import MarkdownIt from "markdown-it";
import { type CompileEffort, compileTime } from "./lib/fluxion-compile.js";
import { type CaseName, RunningServer } from "./lib/fluxion-servers.js";
import { load, type Round, requestOf } from "./lib/http-load.js";

/**
 * An ordinary Express server with a heavy stage, as it is, with that stage moved by hand into piscina, and compiled:
 * throughput of the heavy route, and how long a trivial one takes meanwhile. And what compiling costs where nothing pays.
 */

const CONNECTIONS = 32;
const WORK_MS = 5;

interface Effort {
  /** How often all servers are started: one process can be some percent faster than another of the same program. */
  readonly starts: number;
  /** With the same processes. */
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
  readonly compile: CompileEffort;
}
const FULL: Effort = {
  starts: 7,
  rounds: 6,
  warmUpMs: 1500,
  roundMs: 500,
  compile: { lines: 10_000, rounds: 7 },
};
const QUICK: Effort = {
  starts: 1,
  rounds: 1,
  warmUpMs: 300,
  roundMs: 300,
  compile: { lines: 1_000, rounds: 1 },
};

interface Comparison {
  readonly cases: readonly CaseName[];
  readonly baseline: CaseName;
  readonly body: string;
}

interface Figures {
  readonly case: CaseName;
  readonly baseline: CaseName;
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Of the baseline's, in the same round; the median of the rounds. */
  readonly ratio: number;
  readonly probeP50Ms: number;
  readonly probeP99Ms: number;
  readonly isCountRight: boolean;
}

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, threads: { type: "string" } },
  });
  const effort = values.quick ? QUICK : FULL;
  const threads = Number(values.threads ?? availableParallelism());
  const heavy: Comparison = {
    cases: ["plain", "by-hand", "compiled"],
    baseline: "by-hand",
    body: documentOf(WORK_MS, effort.warmUpMs),
  };
  const small: Comparison = {
    cases: ["small-plain", "small-compiled"],
    baseline: "small-plain",
    body: "The Quick Brown Fox",
  };
  const figures = [...(await measure(heavy, effort, threads)), ...(await measure(small, effort, threads))];
  const compile = await compileTime(effort.compile);
  for (const each of figures) {
    process.stdout.write(values.json ? `${jsonLine(each, threads)}\n` : `${row(each)}\n`);
  }
  if (values.json)
    process.stdout.write(`${JSON.stringify({ bench: "fluxions", case: "compile", ...compile })}\n`);
  for (const goal of goals(figures, compile)) progress(goal);
  if (figures.some((each) => !each.isCountRight)) throw new Error("a server has counted wrong.");
}

/** What was measured of one program. */
interface Taken {
  readonly rounds: Round[];
  isCountRight: boolean;
}

/** The cases take turns, so that a slow moment of the machine falls on all of them. */
async function measure(comparison: Comparison, effort: Effort, threads: number): Promise<Figures[]> {
  const { cases, baseline } = comparison;
  const taken = new Map(cases.map((each) => [each, { rounds: [], isCountRight: true } as Taken]));
  const of = (name: CaseName) => taken.get(name) as Taken;
  for (let start = 1; start <= effort.starts; start++) {
    await measureOnce(comparison, effort, threads, of);
    progress(`start ${start} of ${effort.starts} (${cases.join(", ")})`);
  }
  return cases.map((each) => figuresOf(each, of(each), baseline, of(baseline).rounds));
}

async function measureOnce(
  { cases, body }: Comparison,
  effort: Effort,
  threads: number,
  of: (name: CaseName) => Taken,
): Promise<void> {
  const [heavy, trivial] = [requestOf("POST", "/render", body), requestOf("GET", "/health")];
  const servers: RunningServer[] = [];
  try {
    for (const each of cases) servers.push(await RunningServer.start(each, threads));
    const asked = new Map(cases.map((each) => [each, 0]));
    const round = async (server: RunningServer, ms: number) => {
      const done = await load(server.port, heavy, trivial, { connections: CONNECTIONS, ms });
      asked.set(server.name, (asked.get(server.name) ?? 0) + done.requests);
      return done;
    };
    for (const server of servers) await round(server, effort.warmUpMs);
    for (let i = 0; i < effort.rounds; i++) {
      const inTurn = i % 2 === 0 ? servers : servers.toReversed(); // whoever comes first has it a little harder
      for (const server of inTurn) of(server.name).rounds.push(await round(server, effort.roundMs));
    }
    for (const server of servers)
      if ((await server.counted()) !== asked.get(server.name)) of(server.name).isCountRight = false;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function figuresOf(
  name: CaseName,
  { rounds, isCountRight }: Taken,
  baseline: CaseName,
  beside: readonly Round[],
): Figures {
  const rate = ({ requests, seconds }: Round) => requests / seconds;
  const probes = rounds.flatMap(({ probesMs }) => probesMs);
  return {
    case: name,
    baseline,
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: quantile(rounds.map(rate), 0.5),
    ratio: quantile(
      rounds.map((round, i) => rate(round) / rate(beside[i] ?? round)),
      0.5,
    ),
    probeP50Ms: quantile(probes, 0.5),
    probeP99Ms: quantile(probes, 0.99),
    isCountRight,
  };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function goals(
  figures: readonly Figures[],
  compile: { lines: number; ms: number; medianMs: number },
): string[] {
  const of = (name: CaseName) => figures.find((each) => each.case === name);
  const [plain, byHand, compiled, small] = [of("plain"), of("by-hand"), of("compiled"), of("small-compiled")];
  if (!plain || !byHand || !compiled || !small) return [];
  const toHand = compiled.probeP99Ms / byHand.probeP99Ms;
  const toPlain = compiled.probeP99Ms / plain.probeP99Ms;
  return [
    verdict(compiled.ratio >= 0.9, `at least 0.9 of the throughput by hand: ${compiled.ratio.toFixed(2)}`),
    verdict(toHand <= 1.5, `p99 of the trivial route at most 1.5 times that by hand: ${toHand.toFixed(2)}`),
    verdict(
      toPlain <= 0.1,
      `p99 of the trivial route at most 0.1 of the plain program's: ${toPlain.toFixed(3)}`,
    ),
    verdict(
      small.ratio >= 0.95,
      `where nothing pays, at least 0.95 of the plain program: ${small.ratio.toFixed(2)}`,
    ),
    verdict(
      compile.ms < 1000,
      `10,000 lines compiled in under a second: ${compile.lines} in ${Math.round(compile.ms)} ms, median ${Math.round(compile.medianMs)} ms`,
    ),
  ];
}

function verdict(isMet: boolean, what: string): string {
  return `${isMet ? "met" : "MISSED"}: ${what}`;
}

/**
 * Markdown with code that takes about so long to render here, in code that is warm. Of several times the least counts: in
 * the others the machine was at something else.
 */
function documentOf(ms: number, warmUpMs: number): string {
  const markdown = new MarkdownIt({
    linkify: true,
    typographer: true,
    highlight: (code, language) =>
      hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : "",
  });
  const renderMs = (text: string) => {
    const began = performance.now();
    markdown.render(text);
    return performance.now() - began;
  };
  let text = [1, 2, 3, 4, 5].map(section).join("");
  for (let spentMs = 0; spentMs < warmUpMs; ) spentMs += renderMs(text);
  for (let sections = 6; sections < 200; sections++) {
    text += section(sections);
    if (Math.min(...Array.from({ length: 15 }, () => renderMs(text))) >= ms) break;
  }
  return text;
}

function section(n: number): string {
  return `## Section ${n}

Some *text* with **marks**, a [link](http://headwater.test/${n}), and "quotes" --- see http://example.test/${n}.

- one
- two

\`\`\`js
export function part${n}(list) {
  const sum = list.reduce((a, b) => a + b.value * ${n}, 0); // adds
  return { sum, text: \`part \${sum}\`, at: new Date() };
}
\`\`\`

`;
}

function jsonLine(figures: Figures, threads: number): string {
  return JSON.stringify({ bench: "fluxions", threads, connections: CONNECTIONS, ...figures });
}

function row({ case: name, requestsPerSecond, ratio, baseline, probeP50Ms, probeP99Ms }: Figures): string {
  const rate = `${requestsPerSecond.toFixed(0).padStart(6)} requests/s, ${ratio.toFixed(2)} of ${baseline}`;
  const probes = `trivial route: p50 ${probeP50Ms.toFixed(1)} ms, p99 ${probeP99Ms.toFixed(1)} ms`;
  return `${name.padEnd(15)} ${rate.padEnd(45)} ${probes}`;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
