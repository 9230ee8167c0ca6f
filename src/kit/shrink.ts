import type { Schedule } from "./schedule.js";

/** So many runs at most. */
const TRIES_MAX = 400;
/** With fewer acts or faults, the same luck means something else: each is tried with some more. */
const LUCKS = 4;

/** A failing schedule with fewer acts and faults that fails, too. */
export async function shrink(
  found: Schedule,
  fails: (schedule: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let smallest = found;
  let tries = 0;
  const attempt = async (change: Partial<Schedule>): Promise<boolean> => {
    for (let luck = 0; luck <= LUCKS; luck++) {
      if (++tries > TRIES_MAX) return false;
      const tried = { ...smallest, ...change, luck: luck === 0 ? smallest.luck : luck };
      if (!(await fails(tried))) continue;
      smallest = tried;
      return true;
    }
    return false;
  };
  await dropFaults(() => smallest, attempt);
  for (
    let size = Math.ceil(smallest.acts.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < smallest.acts.length; ) {
      const acts = smallest.acts.toSpliced(from, size);
      if (!(await attempt({ acts }))) from += size;
    }
  }
  await dropFaults(() => smallest, attempt);
  return smallest;
}

async function dropFaults(
  current: () => Schedule,
  attempt: (change: Partial<Schedule>) => Promise<boolean>,
): Promise<void> {
  if (current().isCut) await attempt({ isCut: false });
  if (current().hosts) await attempt({ hosts: false });
  if (current().crashes) await attempt({ crashes: false, isCut: false });
}
