/** Where a context is, as the head of its logical node knows it: its state and the events in it are on a host. */
export class Residence {
  /** Which life of a host has it in memory; 0 if none has. */
  life = 0;
  /** How often a migration has taken it to another host, or an eviction from its host. */
  migrations = 0;
  /** Was it deleted, and has it not been made again? Without a journal only. */
  isDeleted = false;
  /** Attempts of events that have entered it and that the journal does not have. */
  users = 0;
  /** Without a journal: takes it from its host, where nothing of it is left but its name. False if that must wait. */
  evict: (() => boolean) | null = null;

  leavesHost(): boolean {
    return this.users === 0 && (this.evict?.() ?? true);
  }
}
