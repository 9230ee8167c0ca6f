import { Context, owned, readonly } from "headwater";
import { GraphEngine, stamp } from "#src/streams/graph/index.js";

/** A graph of queries, as the streaming service has one for each tenant; with checkpoints after a few records. */
export class Board extends Context<string> {
  engine = owned(() => new GraphEngine(), { checkpointBytes: 3000 });

  carryOut(record: Uint8Array) {
    const { answers, refused } = this.engine.apply(stamp(record, this.event.time));
    return refused?.code ?? answers.length;
  }

  @readonly seen(): readonly [position: number, digest: number] {
    return [this.engine.position, this.engine.read(({ digest }) => digest)];
  }
}

export default class Boards extends Context {
  boards = this.children(Board);

  async clear(name: string): Promise<void> {
    await this.event.delete(this.boards(name));
  }
}
