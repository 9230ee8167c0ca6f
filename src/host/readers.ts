import type { HeadwaterError } from "../errors.js";
import type { FailedEvent, Feed } from "../observe/index.js";
import { textOf } from "./ports/index.js";
import type { RunOptions } from "./service.js";

/** The callbacks among the options of `run` are readers of the feed. Of what no option hears, the process is warned. */
export function readFeed(feed: Feed, options: RunOptions): void {
  const { onError = warnOfFailure, onWarning = warnOf, onFailure = warnOfJournal, onLoad } = options;
  feed.hear("failure", ({ kind: _, atMs: __, ...failed }) => onError(failed));
  feed.hear("warning", ({ error }) => onWarning(error));
  feed.hear("halted", ({ error }) => onFailure(error));
  const onDecision = typeof options.hosts === "object" ? options.hosts.onDecision : undefined;
  if (onDecision !== undefined)
    feed.hear("decision", ({ action, text, error }) => onDecision({ action, text, error }));
  if (onLoad !== undefined)
    feed.hear(
      "load",
      sayingOnce(({ load }) => onLoad(load)),
    );
}

function warnOfFailure({ context, method, startedBy, error, unreported }: FailedEvent): void {
  const more = unreported === 0 ? "" : ` (and ${unreported} like it since the last report)`;
  const what = `${context}.${method}(…), begun by a ${startedBy}, failed and changed nothing${more}: ${textOf(error)}`;
  process.emitWarning(what, "HeadwaterEventFailed");
}

function warnOf({ message }: HeadwaterError): void {
  process.emitWarning(message, "HeadwaterWarning");
}

function warnOfJournal({ message }: HeadwaterError): void {
  process.emitWarning(message, "HeadwaterJournal");
}

/** A listener that throws at each of thousands of facts is said to do so once for all that come in one go. */
function sayingOnce<F>(listener: (fact: F) => void): (fact: F) => void {
  let hasSaid = false;
  return (fact) => {
    try {
      listener(fact);
    } catch (error) {
      if (hasSaid) return;
      hasSaid = true;
      setImmediate(() => {
        hasSaid = false;
      });
      throw error;
    }
  };
}
