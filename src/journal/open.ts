/** The door of this folder: opens the journal that an address names, a directory or a log on NATS servers. */

import { HeadwaterError } from "../errors.js";
import { type EmbeddedOptions, openEmbedded } from "./embedded.js";
import type { Journal, JournalIdentity } from "./journal.js";
import { isNatsAddress } from "./stream/nats-address.js";

export type JournalOptions = EmbeddedOptions;

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

export async function openJournal(
  address: string,
  identity: JournalIdentity,
  options: JournalOptions,
): Promise<Journal> {
  if (isNatsAddress(address)) {
    const { openStream } = await import("./stream/open-stream.js");
    return openStream(address, identity, options);
  }
  const scheme = SCHEME.exec(address)?.[1];
  if (scheme !== undefined) {
    throw new HeadwaterError(
      "HW-3001",
      `${address} is not a journal: this version opens directories and NATS servers (nats://HOST:PORT/NAME), and knows nothing ` +
        `of "${scheme}://". Name one of these.`,
    );
  }
  return openEmbedded(address, identity, options);
}
