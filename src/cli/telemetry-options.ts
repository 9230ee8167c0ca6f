import { LOG_LEVELS, type LogLevel } from "../telemetry/index.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

/** What operators' tools are told, with any command that runs something. */
export const TELEMETRY_OPTIONS: CliCommand["options"] = {
  metrics: { help: "serve figures for Prometheus at /metrics (at --port, or any that is free)" },
  log: { value: "FILE", help: "append what goes on to this file as lines of JSON; - is standard error" },
  "log-level": {
    value: LOG_LEVELS.join("|"),
    help: "the least that --log writes (info); debug: every event",
  },
};

export interface LogSettings {
  readonly file: string;
  readonly level: LogLevel;
}

/** What the options ask for. */
export function logSettings(command: CliCommand, { values }: Arguments): LogSettings | null {
  const [file, written] = [values.get("log"), values.get("log-level")];
  if (file === undefined) {
    if (written === undefined) return null;
    throw misused(command, "--log-level says what --log writes; it needs --log as well.");
  }
  const level = LOG_LEVELS.find((each) => each === (written ?? "info"));
  if (level === undefined) throw misused(command, `--log-level is one of ${LOG_LEVELS.join(", ")}.`);
  return { file, level };
}
