import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

const ACTIONS = [
  "register",
  "push",
  "watch",
  "list",
  "explain",
  "deregister",
  "seal",
  "producers",
  "output",
  "source",
  "share",
  "unshare",
  "tokens",
  "tenants",
];

export const streams: CliCommand = {
  name: "streams",
  operands: [
    ACTIONS.join("|"),
    "[NAME|SQL|ACTION]",
    "[SQL|FILE|PARTITION|PRODUCERS|STREAM|TENANTS|ID]",
    "[TARGET|NUMBER]",
  ],
  summary: "use a streaming service that runs",
  details:
    'register "CREATE STREAM …" or register NAME "SELECT …"; push NAME --from FILE sends lines of JSON or CSV, also gzip, from a file or stdin (-); watch NAME prints ' +
    "results as they come, and goes on after lost connections; list; explain NAME or a SELECT; deregister NAME; seal NAME PARTITION --producer P, with the partition as a list of values in JSON, or without one the whole stream; producers NAME P,P declares who seals partitions; output add STREAM TARGET, list, show NAME, remove NAME, dead-letters NAME, replay NAME NUMBER, drop NAME NUMBER; source add STREAM FROM, list, show NAME, remove NAME; share NAME TENANT,TENANT or share NAME all, unshare NAME; tokens add, " +
    "tokens list, tokens revoke ID; tenants add NAME. The token is that of the environment variable HEADWATER_TOKEN, or of a file.",
  options: {
    url: { value: "URL", help: "where the service is (HEADWATER_URL, or http://127.0.0.1:4400)" },
    "token-file": { value: "FILE", help: "holds the token (headwater-data/admin.token)" },
    from: {
      value: "N|INPUT",
      help: "watch: begin with the row of this number; push: what to read, - is stdin",
    },
    input: { value: "csv|ndjson", help: "push: what the input is, if its name does not say it" },
    follow: { help: "push: go on with what is appended to the file, until interrupted" },
    name: { value: "NAME", help: "output add, source add: its name" },
    "secrets-file": {
      value: "JSON",
      help: "output add, source add: an object of headers, or of user, pass and token",
    },
    acks: { help: "output add: rows count as delivered when a TCP receiver has answered with their number" },
    count: { value: "N", help: "watch: end after so many rows" },
    producer: {
      value: "NAME",
      help: "push, seal: number the batches, so that a repeated one has no second effect",
    },
    backfill: { help: "register: begin with what the inputs retain" },
    scopes: { value: "A,B", help: "tokens add: of operator, admin, define, push, read" },
    "expires-hours": { value: "N", help: "tokens add: when the token expires" },
  },
  async run(args, terminal) {
    const [action = ""] = args.operands;
    if (!ACTIONS.includes(action)) throw misused(streams, `"${action}" is none of ${ACTIONS.join(", ")}.`);
    const { useService } = await import("./use-streams.js");
    return await useService(streams, args, terminal);
  },
};
