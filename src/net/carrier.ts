/**
 * One end of a connection between a head and a host. What is sent arrives in order and whole, or the connection is lost.
 *
 * A carrier holds what it was given until the other end has taken it. It does not hold up its caller: the two ends say how much
 * they have read, in what they send (`host/wire/line.ts`), and so few batches are under way at a time.
 */
export interface Carrier<Aside> {
  /** Sends a batch of bytes. Their memory is the carrier's from then on. */
  post(bytes: Uint8Array): void;
  /** Sends plain data that is about the connection, or about the two ends themselves. */
  tell(aside: Aside): void;
}

/** What comes from the other end. */
export interface BatchReceiver<Aside> {
  batch(bytes: Uint8Array): void;
  aside(aside: Aside): void;
}
