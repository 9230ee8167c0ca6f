// The splitter of the word count (Blazes, section VI.A), for `headwater analyze --check`. It keeps nothing.
import type { RunnableComponent } from "headwater/analysis/check";

const splitter: RunnableComponent<null> = {
  initial: () => null,
  receive(state, _input, { text, batch }) {
    const words = String(text).split(" ");
    return { state, emit: words.map((word) => ["words", { word, batch }] as const) };
  },
};

export default splitter;
