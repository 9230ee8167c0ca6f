import type { Surveyor } from "../../elastic/actions.js";
import { type ElasticHosts, policyOf } from "../../elastic/elastic-hosts.js";
import type { Fleet } from "../fleet/index.js";
import type { Program } from "../node/index.js";
import { Elasticity } from "./elasticity.js";
import type { LoadRecorder } from "./load-recorder.js";
import { type MeasuredHosts, Meter } from "./meter.js";

/** As often as hosts say how they are. */
const EVERY_MS = 1000;

/** Looks after the hosts of a program, as often as they say how they are. Returns how to stop it. */
export function watchHosts(
  fleet: Fleet,
  pool: MeasuredHosts,
  program: Program,
  elastic: ElasticHosts | null,
  recorder: LoadRecorder,
): () => void {
  const meter = new Meter(pool, program);
  const surveyor: Surveyor = {
    cannotMove: (context, to) => fleet.refusal(meter.named(context) ?? context, to),
    report: (problem) => program.warn(problem),
  };
  const elasticity =
    elastic === null
      ? null
      : new Elasticity(fleet, meter, policyOf(elastic, surveyor), (decision) =>
          program.feed.note({ kind: "decision", ...decision }),
        );
  const timer = setInterval(() => {
    if (elasticity === null && !recorder.isWanted) return;
    const now = meter.measure(program.now(), fleet.list());
    recorder.flush(meter);
    if (!program.isStopped) void elasticity?.look(now);
  }, EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    elasticity?.stop();
    recorder.flush(meter, true);
  };
}
