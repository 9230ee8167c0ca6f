import { analyze } from "./analyze.js";
import { cluster } from "./cluster.js";
import type { CliCommand } from "./command.js";
import { compile } from "./compile.js";
import { completionCommand } from "./completion.js";
import { dev } from "./dev.js";
import { doctor } from "./doctor.js";
import { events } from "./events.js";
import { explain } from "./explain.js";
import { helpCommand } from "./help.js";
import { hosts } from "./hosts.js";
import { init } from "./init.js";
import { journal } from "./journal.js";
import { observe } from "./observe.js";
import { policy } from "./policy.js";
import { query } from "./query.js";
import { replay } from "./replay.js";
import { run } from "./run.js";
import { serve } from "./serve.js";
import { sim } from "./sim.js";
import { state } from "./state.js";
import { streams } from "./streams.js";

/** Every command there is, in the order in which help lists them. */
export const commands: readonly CliCommand[] = [
  init,
  dev,
  run,
  serve,
  streams,
  cluster,
  doctor,
  hosts,
  events,
  observe,
  state,
  journal,
  replay,
  query,
  analyze,
  compile,
  policy,
  sim,
  completionCommand(() => commands),
  explain,
  helpCommand(() => commands),
];
