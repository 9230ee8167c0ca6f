import assert from "node:assert/strict";
import { test } from "node:test";
import { AnonymousContext, Context, type ContextClass, tracked } from "headwater";
import { checkShapes } from "#src/host/context/stored-shapes.js";
import { decodeState, encodeState } from "#src/host/context/stored-state.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { inspectTree, shapeOf } from "#src/model/shape.js";
import { refusedAtOnce } from "../refused.js";
import { Kept, rootOf, shown } from "./kept.js";

/** Classes of one name, as a program has them from one run to the next. */
function named<C>(cls: C): C {
  Object.defineProperty(cls, "name", { value: "Account" });
  return cls;
}

const First = named(
  class extends Context {
    owner = "ada";
    cents = 0;
    entries = tracked.list<number>([1, 2]);
    tags = new Set<string>();
    limits = tracked.map<string, { readonly cents: number }>([["day", { cents: 5 }]]);
  },
);
type First = InstanceType<typeof First>;

const Second = named(
  class extends Context {
    static version = 2;
    static upgrade(fields: Record<string, unknown>, version: number) {
      assert.equal(version, 1);
      const { owner, cents, entries, tags, limits } = fields as {
        owner: string;
        cents: number;
        entries: number[];
        tags: Set<string>;
        limits: Map<string, { cents: number }>;
      };
      for (const limit of limits.values()) limit.cents *= 2;
      return { owners: [owner], euros: cents / 100, entries: new Set(entries), tags, limits };
    }
    owners: string[] = [];
    euros = 0;
    entries = new Set<number>();
    tags = tracked.set<string>();
    limits = tracked.map<string, { readonly cents: number }>();
  },
);
type Second = InstanceType<typeof Second>;

const UPGRADED = {
  owners: ["ada"],
  euros: 12,
  entries: new Set([1, 2]),
  tags: new Set(["new"]),
  limits: new Map([["day", { cents: 10 }]]),
};

function first(): Kept {
  const kept = new Kept(rootOf(First));
  kept.change<First>((account) => {
    account.cents = 1200;
    account.tags.add("new");
  });
  return kept;
}

test("a state of an older version is upgraded when it is loaded, and written whole with the next change", () => {
  const kept = first();
  const later = kept.reload(Second);
  assert.deepEqual(shown(later.slot, later.present), UPGRADED);
  later.change<Second>((account) => (account.euros += 1));
  const again = later.reload(Second);
  assert.deepEqual(shown(again.slot, again.present), { ...UPGRADED, euros: 13 });
  assert.equal(again.keys.filter((key) => key.includes("entries")).length, 0);
  assert.equal(again.change<Second>(({ tags }) => tags.add("old")).length, 1);
});

test("a copy that was kept aside is upgraded, too", () => {
  const kept = first();
  const slot = rootOf(Second);
  assert.deepEqual(shown(slot, decodeState(slot, encodeState(kept.slot, kept.present))), UPGRADED);
});

test("a plain collection can become a tracked one and back without a new version", () => {
  const Plain = named(
    class extends Context {
      scores = new Map([["ada", 1]]);
      seen = new Set(["a"]);
      lines = ["x", "y"];
    },
  );
  const Tracked = named(
    class extends Context {
      scores = tracked.map<string, number>();
      seen = tracked.set<string>();
      lines = tracked.list<string>();
    },
  );
  const expected = { scores: new Map([["ada", 2]]), seen: new Set(["a"]), lines: ["x", "y"] };
  const kept = new Kept(rootOf(Plain));
  kept.change<InstanceType<typeof Plain>>(({ scores }) => scores.set("ada", 2));
  const shapes = [Plain, Tracked, Plain].map((cls) => shapeOf(cls as ContextClass));
  for (const shape of shapes) kept.journal.append(checkShapes(kept.journal, [shape]), () => {});
  const later = kept.reload(Tracked);
  assert.deepEqual(shown(later.slot, later.present), expected);
  later.change<InstanceType<typeof Tracked>>(({ lines }) => lines.push("z"));
  assert.equal(later.change<InstanceType<typeof Tracked>>(({ scores }) => scores.set("bob", 3)).length, 1);
  const back = later.reload(Plain);
  expected.scores.set("bob", 3);
  expected.lines.push("z");
  assert.deepEqual(shown(back.slot, back.present), expected);
  back.change<InstanceType<typeof Plain>>(({ lines }) => lines.pop());
  assert.deepEqual(
    back.keys.filter((key) => key.startsWith("d/")),
    [],
  );
});

test("what an upgrade returns must fit the class, and be plain data", () => {
  const upgrades: [unknown, "HW-3021" | "HW-1006", string][] = [
    [{ a: 1 }, "HW-3021", 'no field "b"'],
    [{ a: 1, b: new Map(), c: 1 }, "HW-3021", '"c"'],
    [{ a: 1, b: 5 }, "HW-3021", '"b" is not what a tracked map'],
    [Promise.resolve({}), "HW-3021", "returned no object"],
    [undefined, "HW-3021", "returned no object"],
    [{ a: () => 1, b: new Map() }, "HW-1006", "Account.upgrade(…).a"],
  ];
  for (const [result, code, ...names] of upgrades) {
    const Next = named(
      class extends Context {
        static version = 3;
        static upgrade() {
          return result;
        }
        a: unknown = 0;
        b = tracked.map<string, number>();
      },
    );
    refusedAtOnce(() => first().reload(Next), code, ...names);
  }
  const kept = first().reload(Second);
  kept.change<Second>((account) => account.euros++);
  refusedAtOnce(() => kept.reload(First), "HW-3021", "version 2", "version 1");
});

test("an upgrade cannot change what was loaded", () => {
  const Keeps = named(
    class extends Context {
      static version = 2;
      static kept: unknown[] = [];
      static upgrade({ entries }: { entries: number[] }) {
        Keeps.kept.push(entries);
        return { entries };
      }
      entries: number[] = [];
    },
  );
  const later = first().reload(Keeps);
  (Keeps.kept[0] as number[]).push(3);
  assert.deepEqual(shown(later.slot, later.present), { entries: [1, 2] });
});

/** What a journal that was written with some classes says to others. */
function check(before: readonly unknown[], after: readonly unknown[]): number {
  const journal = new MemoryJournal();
  journal.append(
    checkShapes(
      journal,
      before.map((cls) => shapeOf(cls as ContextClass)),
    ),
    () => {},
  );
  const shapes = after.map((cls) => shapeOf(cls as ContextClass));
  const writes = checkShapes(journal, shapes);
  journal.append(writes, () => {});
  assert.deepEqual(checkShapes(journal, shapes), []);
  return writes.length;
}

test("a class whose fields have changed is refused at the start, with what has changed", () => {
  const Changed = named(
    class extends Context {
      owner = "ada";
      euros = 0;
      entries = tracked.set<number>();
      tags = 0;
      limits = { day: 5 };
    },
  );
  const names = [
    "Account",
    '"euros" was added',
    '"cents" is gone',
    '"entries" was a tracked list and is a tracked set',
  ];
  const more = [
    '"tags" was a plain Set',
    '"limits" was a tracked map',
    "`static version = 2`",
    "static upgrade",
  ];
  refusedAtOnce(() => check([First], [Changed]), "HW-3021", ...names, ...more);
});

test("a field that was added begins with its initial value, which the next change writes", () => {
  const initial = { n: 3, text: "new", large: "x".repeat(2000), map: new Map([["a", 1]]), list: [1, 2] };
  const Grown = named(
    class extends Context {
      map = tracked.map<string, number>(initial.map);
      n = initial.n;
      owner = "nobody";
      cents = 0;
      entries = tracked.list<number>();
      large = initial.large;
      tags = new Set<string>();
      limits = tracked.map<string, { readonly cents: number }>();
      list = tracked.list<number>(initial.list);
      text = initial.text;
    },
  );
  type Grown = InstanceType<typeof Grown>;
  assert.equal(check([First], [Grown]), 1);
  refusedAtOnce(() => check([Grown], [First]), "HW-3021", '"n" is gone');

  const old = first();
  const kept = { owner: "ada", cents: 1200, entries: [1, 2], tags: new Set(["new"]) };
  const later = old.reload(Grown);
  const state = () => shown(later.slot, later.present);
  const limits = new Map([["day", { cents: 5 }]]);
  assert.deepEqual(state(), { ...initial, ...kept, limits });
  later.change<Grown>((grown) => grown.entries.push(3)); // a change of another field
  initial.n = 4;
  const again = later.reload(Grown);
  const entries = [1, 2, 3];
  assert.deepEqual(shown(again.slot, again.present), { ...initial, n: 3, ...kept, entries, limits });
  again.change<Grown>(({ map, list }) => {
    map.set("b", 2);
    list.push(3);
  });
  const last = again.reload(Grown);
  initial.map.set("b", 2);
  initial.list.push(3);
  assert.deepEqual(shown(last.slot, last.present), { ...initial, n: 3, ...kept, entries, limits });
});

test("versions are compared at the start", () => {
  assert.equal(check([First], [First]), 0);
  assert.equal(check([First], [Second]), 1);
  refusedAtOnce(() => check([Second], [First]), "HW-3021", "version 2 of the class Account", "newer");
  const Without = named(
    class extends Context {
      static version = 2;
    },
  );
  refusedAtOnce(() => check([First], [Without]), "HW-3021", "version 1", "upgrade(fields, version)");
  const Wrong = named(
    class extends Context {
      static version = "2";
    },
  );
  refusedAtOnce(() => check([], [Wrong]), "HW-1017", "Account.version");
});

test("a class that is new, gone, anonymous, or has its fields in another order is fine at the start", () => {
  class Fresh extends Context {
    n: number | null = null;
  }
  class Renamed extends Context {
    n = 5;
  }
  Object.defineProperty(Renamed, "name", { value: "Fresh" });
  class Nobody extends AnonymousContext {}
  const Reordered = named(
    class extends Context {
      cents = 0;
      owner = "ada";
      tags = new Set<string>();
      limits = tracked.map<string, { readonly cents: number }>();
      entries = tracked.list<number>();
    },
  );
  assert.equal(check([First], [Fresh]), 1);
  assert.equal(check([First, Fresh], [First]), 0);
  assert.equal(check([First], [Reordered, Nobody]), 1);
  assert.equal(check([Fresh], [Renamed]), 1);
});

test("several classes may have one name; one of them that has changed is found", () => {
  const Other = named(
    class extends Context {
      a = 1;
    },
  );
  const OtherChanged = named(
    class extends Context {
      b = 1;
    },
  );
  assert.equal(check([First, Other], [Other, First]), 1);
  assert.equal(check([First], [Other, First]), 1);
  refusedAtOnce(
    () => check([First, Other], [First, OtherChanged]),
    "HW-3021",
    '"b" was added',
    '"a" is gone',
  );
});

test("the shapes of a program are those of all its classes that need no key to be known", () => {
  class Leaf extends Context<number> {
    value = 0;
  }
  class Keyed extends Context<number> {
    own = this.key;
  }
  class Top extends Context {
    leaves = this.children(Leaf);
    more = this.children(Leaf);
    keyed = this.children(Keyed);
  }
  const names = inspectTree(Top as unknown as ContextClass).map(({ name }) => name);
  assert.deepEqual(names, ["Top", "Leaf"]);
});
