import type { HeadwaterError } from "../errors.js";
import type { AnyService } from "../host/service.js";
import type { Journal, KeyTable } from "../journal/journal.js";
import type { MemberLoad } from "../journal/stream/beats.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { HotCopies } from "./copies.js";
import type { Gateway } from "./gateway.js";
import type { HostOffer } from "./offered-hosts.js";
import type { MemberWorld } from "./world.js";

export interface MemberParts {
  /** No other process has it. */
  readonly name: string;
  readonly port: LogPort;
  readonly world: MemberWorld;
  /** As it is shown. */
  readonly address: string;
  /** Of the table's files. */
  readonly directory: string;
  /** Where other members reach this process. */
  readonly host: string;
  /** Whether it may become the head. */
  readonly takesOver: boolean;
  readonly program: string;
  /** How busy this process is; null while that is not known. */
  readonly load: () => MemberLoad | null;
  /** The program in words. */
  readonly outline: string;
  readonly gateway: Gateway;
  /** The hosts that this process offers while another one is the head. */
  readonly offer: HostOffer | null;
  /** The engines that this process keeps up to date while another one is the head; null if it keeps none. */
  readonly copies: HotCopies | null;
  /** Why the program cannot go on with this table: another version of it was the head. */
  readonly misfit: (table: KeyTable) => HeadwaterError | null;
  /** Starts the program on a journal; `onFailure` hears that the journal takes no more. */
  readonly start: (journal: Journal, onFailure: () => void) => Promise<AnyService>;
  /** Drains this process in all logs of its cluster. */
  readonly drainAll: () => Promise<void>;
  /** Ends this process in good order, so that what has started it starts it again; null if nothing does. */
  readonly restart: (() => void) | null;
  /** Ends this process in good order, and for good; null if it was not added by the head. */
  readonly retire: (() => void) | null;
  /** A snapshot is due when so many bytes of the log were read since the last one, or since this process joined. */
  readonly snapshotBytes: number;
  readonly onWarning: (text: string) => void;
  /** This process can be no member any more. */
  readonly onFailure: (error: HeadwaterError) => void;
}
