import { writeSync } from "node:fs";
import type { TestEvent } from "node:test/reporters";

/** What a test file tells the runner, as one line of JSON each on descriptor 3. */
export type Report =
  | { readonly kind: "started"; readonly name: string; readonly nesting: number }
  | { readonly kind: "passed"; readonly name: string; readonly nesting: number; readonly isSuite: boolean }
  | {
      readonly kind: "failed";
      readonly name: string;
      readonly nesting: number;
      readonly isSuite: boolean;
      readonly error: string;
    }
  /** The process of the file ends. */
  | { readonly kind: "ended"; readonly cpuMs: number };

export function tell(report: Report): void {
  writeSync(3, `${JSON.stringify(report)}\n`);
}

/** The reporter that runs inside each test file; the runner in `main.ts` reads what it writes. */
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type === "test:dequeue") {
      const { name, nesting } = event.data;
      tell({ kind: "started", name, nesting });
    } else if (event.type === "test:pass") {
      const { name, nesting, details } = event.data;
      tell({ kind: "passed", name, nesting, isSuite: details.type === "suite" });
    } else if (event.type === "test:fail") {
      const { name, nesting, details } = event.data;
      const { cause, failureType } = details.error as Error & { failureType?: string };
      if (failureType === "subtestsFailed") continue; // they have been told of
      const error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? details.error);
      tell({
        kind: "failed",
        name,
        nesting,
        isSuite: details.type === "suite",
        error,
      });
    }
  }
  yield "";
}
