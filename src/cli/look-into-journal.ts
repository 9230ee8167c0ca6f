import { resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { shownNodes, storedNode } from "../host/store/index.js";
import { existingCard } from "../journal/directory.js";
import { damaged } from "../journal/problems.js";
import { backup, repair } from "../journal/rescue.js";
import { olderFaults, type Survey, withSurvey } from "../journal/survey.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import { journal } from "./journal.js";
import { entryAsJson, OwnedTotals } from "./journal-owned.js";
import { showAt, showDiff } from "./journal-past.js";
import type { Terminal } from "./terminal.js";

const ACTIONS = {
  ...{ info, verify, export: exportAll, backup: backUp, repair: mend },
  at: (directory: string, terminal: Terminal, _: boolean, __: string, args: Arguments) =>
    showAt(directory, terminal, args),
  diff: (directory: string, terminal: Terminal, _: boolean, __: string, args: Arguments) =>
    showDiff(directory, terminal, args),
} as const;
type Action = keyof typeof ACTIONS;

const PROGRESS_MS = 1000;
const KEYS_PER_TURN = 1000;

/** Says what is in a journal. */
export async function lookIntoJournal(args: Arguments, terminal: Terminal): Promise<number> {
  const { operands, flags, values } = args;
  const [written = "", directory = ""] = operands;
  const names = Object.keys(ACTIONS) as Action[];
  const action = names.find((each) => each === written);
  if (action === undefined) {
    throw misused(
      journal,
      `A journal has ${names.slice(0, -1).join(", ")} and ${names.at(-1)}, not "${written}".${didYouMean(written, names)}`,
    );
  }
  existingCard(resolve(directory));
  const to = values.get("to");
  if ((action === "backup") !== (to !== undefined)) {
    throw misused(journal, "backup, and nothing else, needs --to: the directory that the copy is put into.");
  }
  return await ACTIONS[action](resolve(directory), terminal, flags.has("json"), to ?? "", args);
}

async function backUp(directory: string, terminal: Terminal, json: boolean, to: string): Promise<number> {
  const { last } = await backup(directory, to);
  if (json) terminal.out(JSON.stringify({ kind: "backup", to: resolve(to), groups: last }));
  else terminal.say(`${to} has the journal up to group ${last}.`);
  return 0;
}

async function mend(directory: string, terminal: Terminal, json: boolean): Promise<number> {
  const { last, damages, moved } = await repair(directory);
  if (json) terminal.out(JSON.stringify({ kind: "repaired", groups: last, damages, moved }));
  else if (moved === null) terminal.say("There is nothing to repair.");
  else {
    for (const what of damages) terminal.out(what);
    terminal.say(
      `${directory} is the journal as it was after group ${last}, the last one before what is lost. The damaged one is in ${moved}.`,
    );
  }
  return 0;
}

async function info(directory: string, terminal: Terminal, json: boolean): Promise<number> {
  const facts = await withSurvey(directory, async (survey) => {
    const kinds = new Map<string, { keys: number; bytes: number }>();
    const owned = new OwnedTotals();
    const nodes = new Map<string, string>();
    for await (const [key, value] of unhurried(survey, terminal)) {
      const name = key.split("/", 1)[0] ?? key;
      const kind = kinds.get(name) ?? { keys: 0, bytes: 0 };
      kinds.set(name, kind);
      const node = value === null ? null : storedNode(key, value);
      if (node?.isDropped === false) nodes.set(node.name, node.root);
      kind.keys += 1;
      kind.bytes += Buffer.byteLength(key) + (value?.byteLength ?? 0);
      owned.add(key, value?.byteLength ?? 0);
    }
    const { card, epoch, logCommits, logBytes, fileBytes } = survey;
    const { format, layout } = card;
    return {
      program: nodes.size === 0 ? card.program : shownNodes(nodes), // earlier versions have them in the card only

      format,
      layout,
      epoch,
      fileBytes,
      logCommits,
      logBytes,
      kinds: Object.fromEntries(kinds),
      owned,
    };
  });
  if (json) {
    terminal.out(JSON.stringify({ ...facts, owned: facts.owned.facts }));
    return 0;
  }
  const { kinds, owned, ...rest } = facts;
  for (const [name, value] of Object.entries(rest)) terminal.out(`${name.padEnd(12)}${value}`);
  for (const [name, { keys, bytes }] of Object.entries(kinds)) {
    terminal.out(`${`${name}/`.padEnd(12)}${keys} ${keys === 1 ? "key" : "keys"}, ${bytes} bytes`);
  }
  if (owned.engines > 0) terminal.out(`${"owned".padEnd(12)}${owned}`);
  return 0;
}

async function verify(directory: string, terminal: Terminal, json: boolean): Promise<number> {
  let keys = 0;
  let commits = 0;
  let damages = 0;
  const tell = (what: string, key?: string) => {
    damages += 1;
    if (json) terminal.out(JSON.stringify({ kind: "damage", what, key }));
    else terminal.out(key === undefined ? what : `${key}: ${what}`);
  };
  await withSurvey(directory, async (survey) => {
    commits = survey.logCommits;
    for await (const [key, value] of unhurried(survey, terminal)) {
      keys += 1;
      if (value === null) tell("the value has a wrong checksum", key);
    }
    for (const what of [...survey.damages, ...(await olderFaults(survey))]) tell(what);
  });
  const ok = damages === 0;
  if (json) terminal.out(JSON.stringify({ kind: "verified", ok, keys, commits, damages }));
  if (ok) terminal.say(`${keys} keys and ${commits} commits in the log: all checksums are right.`);
  else terminal.say(damaged(directory, `${damages} ${damages === 1 ? "fault" : "faults"} found`).message);
  return ok ? 0 : 1;
}

async function exportAll(directory: string, terminal: Terminal): Promise<number> {
  return await withSurvey(directory, async (survey) => {
    let lost = 0;
    for await (const [key, value] of unhurried(survey, terminal)) {
      if (value !== null) {
        terminal.out(`{"key":${JSON.stringify(key)},"value":${entryAsJson(key, value)}}`);
        continue;
      }
      lost += 1;
      terminal.say(`Left out: the value of ${JSON.stringify(key)} has a wrong checksum.`);
    }
    for (const what of survey.damages) terminal.say(`Damaged: ${what}.`);
    return lost + survey.damages.length === 0 ? 0 : 1;
  });
}

/** All entries, with breaks in which Ctrl-C is heard, and a word now and then if it takes long. */
async function* unhurried({ entries }: Survey, terminal: Terminal) {
  let count = 0;
  let spoke = performance.now();
  for (const entry of entries) {
    yield entry;
    count += 1;
    if (count % KEYS_PER_TURN !== 0) continue;
    await turn();
    if (performance.now() - spoke < PROGRESS_MS) continue;
    spoke = performance.now();
    terminal.say(`${count.toLocaleString("en")} keys…`);
  }
}
