// The cache of the ad network (Blazes, figures 3 and 4), for `headwater analyze --check`. It answers from what it knows,
// and asks a reporting server as well, so that it learns what is new. Its state only grows, whatever the order.
import type { DataRecord, RunnableComponent } from "headwater/analysis/check";

type Known = readonly DataRecord[];

const cache: RunnableComponent<Known> = {
  initial: () => [],
  receive(known, input, record) {
    if (input === "request") {
      const answers = known.filter((each) => each.id === record.id);
      return {
        state: known,
        emit: [["request", record], ...answers.map((each) => ["response", each] as const)],
      };
    }
    if (known.some((each) => JSON.stringify(each) === JSON.stringify(record))) return { state: known };
    return { state: [...known, record], emit: [["response", record]] };
  },
  /** The order in which it learnt makes no difference. */
  view: (known) => new Set(known.map((each) => JSON.stringify(each))),
};

export default cache;
