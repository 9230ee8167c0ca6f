/** Where a context is, as the head of its logical node knows it: its state and the events in it are on a host. */
export class Residence {
  /** Which life of a host has it in memory; 0 if none has. */
  life = 0;
  /** How many moves have taken it to another host. */
  migrations = 0;
  /** Have events changed it since it was made or deleted? Without a journal only; with one, the journal knows. */
  isMade = false;
  /** Attempts of events that have entered it and that the journal does not have. */
  users = 0;
}
