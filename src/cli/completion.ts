import { COMMON_OPTIONS, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `headwater completion SHELL`; it needs the table that it is part of. */
export function completionCommand(commands: () => readonly CliCommand[]): CliCommand {
  const completion: CliCommand = {
    name: "completion",
    operands: ["bash|zsh|fish"],
    summary: "print a script that completes command lines in a shell",
    details:
      "Completes commands and options, and file names elsewhere. For bash, put `source <(headwater completion bash)` into " +
      "~/.bashrc; for zsh, the same with zsh into ~/.zshrc; for fish, `headwater completion fish | source` into config.fish.",
    options: {},
    async run({ operands: [written = ""] }, terminal) {
      const shell = SHELLS.find((each) => each === written);
      if (shell === undefined) throw misused(completion, `"${written}" is none of ${SHELLS.join(", ")}.`);
      terminal.out(shell === "fish" ? forFish(commands()) : forBash(commands(), shell));
      return 0;
    },
  };
  return completion;
}

function optionsOf({ options }: CliCommand): string[] {
  return Object.keys({ ...options, ...COMMON_OPTIONS }).map((name) => `--${name}`);
}

/** zsh reads completions of bash, once it is told to. */
function forBash(commands: readonly CliCommand[], shell: "bash" | "zsh"): string {
  const cases = commands.map((command) => `    ${command.name}) words="${optionsOf(command).join(" ")}" ;;`);
  return [
    ...(shell === "zsh" ? ["autoload -U +X bashcompinit && bashcompinit"] : []),
    "_headwater() {",
    `  local words="" word="\${COMP_WORDS[COMP_CWORD]}"`,
    `  case "\${COMP_WORDS[1]}" in`,
    ...cases,
    "  esac",
    `  [ "$COMP_CWORD" -eq 1 ] && words="${commands.map(({ name }) => name).join(" ")}"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -o default -F _headwater headwater",
  ].join("\n");
}

function forFish(commands: readonly CliCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, summary, options }) => [
    `complete -c headwater -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...Object.entries({ ...options, ...COMMON_OPTIONS }).map(
      ([option, { help, value }]) =>
        `complete -c headwater -n '__fish_seen_subcommand_from ${name}' -l ${option}${value === undefined ? "" : " -r"} -d ${quoted(help)}`,
    ),
  ]);
  return lines.join("\n");
}
