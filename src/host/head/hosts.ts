import type { Placement } from "../../elastic/placement.js";
import type { MigrationFact } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import type { HostId } from "../ports/index.js";
import type { ToHost } from "../wire/index.js";
import type { Migration } from "./migration.js";
import type { Quarantine } from "./quarantine.js";

/** The hosts of a program, as its head sees them. What is sent to one host arrives in order. */
export interface Hosts {
  /** Which events are to run alone, because their hosts have ended. */
  readonly quarantine: Quarantine;
  /** On which host a context is. */
  of(slot: Slot): HostId;
  readonly placement: Placement<HostId>;
  /** Counts the lives of all hosts: what was on a host in an earlier life is gone. */
  life(host: HostId): number;
  send(host: HostId, message: ToHost): void;
  /** The same with messages that are made when the host has room for them. What is sent later comes after them. */
  stream(host: HostId, messages: Iterator<ToHost>): void;
  /** A migration has got so far. */
  migrating?(move: Migration, step: MigrationFact["step"]): void;
}
