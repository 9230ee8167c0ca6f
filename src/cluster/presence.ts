import { BEAT_MS, type Beat, readBeat, sayBeat } from "../journal/stream/beats.js";
import type { Following, LogPort } from "../journal/stream/log-port.js";
import { Members } from "./members.js";
import type { MemberWorld } from "./world.js";

export interface PresenceParts {
  readonly port: LogPort;
  readonly world: MemberWorld;
  /** What this process says of itself now. */
  readonly say: () => Beat;
  readonly heard: (beat: Beat) => void;
}

/** Says again and again that this process lives and what it is, and hears the same of the others. */
export class MemberPresence {
  readonly members: Members;
  readonly #parts: PresenceParts;
  #hearing: Following | null = null;
  #stopBeating: () => void = () => {};

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.members = new Members(() => parts.world.now());
  }

  begin(): void {
    const { port, world } = this.#parts;
    this.#hearing = port.hear((bytes) => this.#heard(bytes));
    this.#stopBeating = world.every(BEAT_MS, () => this.beat());
    this.beat();
  }

  beat(): void {
    this.say(this.#parts.say());
  }

  say(beat: Beat): void {
    sayBeat(this.#parts.port, beat);
  }

  leave(beat: Beat): void {
    this.#stopBeating();
    this.#hearing?.stop();
    this.say({ ...beat, state: "leaving" });
  }

  #heard(bytes: Buffer): void {
    const beat = readBeat(bytes);
    if (beat === null) return;
    if (beat.state === "leaving") this.members.left(beat.member);
    else this.members.heard(beat);
    this.#parts.heard(beat);
  }
}
