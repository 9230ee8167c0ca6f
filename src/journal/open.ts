/** The door of this folder: opens the journal that an address names. A directory today; a stream of a cluster is another case. */

import { HeadwaterError } from "../errors.js";
import { type EmbeddedOptions, openEmbedded } from "./embedded.js";
import type { Journal, JournalIdentity } from "./journal.js";

export type JournalOptions = EmbeddedOptions;

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

export function openJournal(
  address: string,
  identity: JournalIdentity,
  options: JournalOptions,
): Promise<Journal> {
  const scheme = SCHEME.exec(address)?.[1];
  if (scheme !== undefined) {
    throw new HeadwaterError(
      "HW-3001",
      `${address} is not a journal: this version opens directories, and knows nothing of "${scheme}://". Name a directory.`,
    );
  }
  return openEmbedded(address, identity, options);
}
