import assert from "node:assert/strict";
import { test } from "node:test";
import { OPTIMISTIC_TRIES } from "#src/core/dependencies.js";
import { Stage } from "./stage.js";

test("events in different contexts do not see each other", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  stage.request("e1", a);
  stage.request("e2", b);
  assert.deepEqual(stage.effects(), ["enter e1 a", "enter e2 b"]);
});

test("an event below waits for an earlier one above until that one finishes", () => {
  const stage = new Stage();
  const a = stage.place("a");
  const above = stage.request("e1", stage.root);
  stage.request("e2", a);
  assert.deepEqual(stage.effects(), ["enter e1 root"]);
  stage.finish(above);
  assert.deepEqual(stage.effects(), ["enter e2 a", "append e1", "settle e1"]);
});

test("giving up a context lets the next event into it, but not into what the first may still call", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const first = stage.request("e1", stage.root);
  const second = stage.request("e2", stage.root);
  stage.effects();
  stage.core.release(first, stage.root, false);
  assert.deepEqual(stage.effects(), ["enter e2 root"]);
  stage.call(second, a);
  stage.call(first, a);
  assert.deepEqual(stage.effects(), ["enter e1 a"]);
  stage.core.release(first, a, false);
  assert.deepEqual(stage.effects(), ["enter e2 a"]);
  stage.call(second, b);
  assert.deepEqual(stage.effects(), []);
  stage.finish(first);
  assert.deepEqual(stage.effects(), ["enter e2 b", "append e1", "settle e1"]);
});

test("an event commits after the one whose context it entered early, and starts again if that one fails", () => {
  const stage = new Stage();
  const first = stage.request("e1", stage.root);
  const second = stage.request("e2", stage.root);
  stage.effects();
  stage.core.release(first, stage.root, true);
  stage.effects();
  stage.finish(second);
  assert.deepEqual(stage.effects(), []);
  stage.finish(first, { failed: true });
  assert.deepEqual(stage.effects(), ["undo e2", "undo e1", "enter e2 root", "append e1", "settle e1"]);
  stage.finish(second);
  assert.deepEqual(stage.effects(), ["append e2", "settle e2"]);
});

test("if the first had changed nothing in what it gave up, its failure restarts nobody", () => {
  const stage = new Stage();
  const first = stage.request("e1", stage.root);
  const second = stage.request("e2", stage.root);
  stage.effects();
  stage.core.release(first, stage.root, false);
  stage.effects();
  stage.finish(second);
  stage.finish(first, { failed: true });
  assert.deepEqual(stage.effects(), ["undo e1", "append e1", "append e2", "settle e2", "settle e1"]);
});

test("messages leave in ticket order, answers do not wait", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const slow = stage.request("e1", a);
  const quick = stage.request("e2", b);
  stage.effects();
  stage.finish(quick, { messages: ["m2"] });
  assert.deepEqual(stage.effects(), ["append e2", "settle e2"]);
  stage.finish(slow, { messages: ["m1"] });
  assert.deepEqual(stage.effects(), ["append e1", "settle e1", "send m1", "send m2"]);
});

test("with commit order total, answers wait for earlier events too", () => {
  const stage = new Stage({ commitOrder: "total" });
  const [a, b] = [stage.place("a"), stage.place("b")];
  const slow = stage.request("e1", a);
  const quick = stage.request("e2", b);
  stage.effects();
  stage.finish(quick, { messages: ["m2"] });
  assert.deepEqual(stage.effects(), ["append e2"]);
  stage.finish(slow);
  assert.deepEqual(stage.effects(), ["append e1", "settle e1", "settle e2", "send m2"]);
});

test("nothing leaves before the journal has it", () => {
  const stage = new Stage();
  const only = stage.request("e1", stage.root);
  stage.effects();
  stage.finish(only, { messages: ["m1"] });
  assert.deepEqual(stage.effects({ journal: false }), ["append e1"]);
  stage.core.journaled(only);
  assert.deepEqual(stage.effects(), ["settle e1", "send m1"]);
});

test("a view is taken in ticket order: after an earlier writer, before a later one", () => {
  const stage = new Stage();
  const a = stage.place("a");
  const early = stage.request("e1", stage.root);
  const viewer = stage.request("e2", a, "write", [stage.root]);
  stage.request("e3", stage.root);
  assert.deepEqual(stage.effects(), ["enter e1 root"]);
  stage.finish(early);
  assert.deepEqual(stage.effects(), [
    "view e2 root",
    "enter e2 a",
    "enter e3 root",
    "append e1",
    "settle e1",
  ]);
  stage.finish(viewer);
});

test("readers run side by side, and a writer waits for all of them", () => {
  const stage = new Stage();
  const first = stage.request("r1", stage.root, "read");
  const second = stage.request("r2", stage.root, "read");
  stage.request("w3", stage.root);
  assert.deepEqual(stage.effects(), ["enter r1 root", "enter r2 root"]);
  stage.finish(second);
  assert.deepEqual(stage.effects(), ["append r2", "settle r2"]);
  stage.finish(first);
  assert.deepEqual(stage.effects(), ["enter w3 root", "append r1", "settle r1"]);
});

test("a writer that was started again still depends on a reader before it that may be started again", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const y = stage.request("y1", b);
  const x = stage.request("x2", a);
  const reader = stage.request("r3", stage.root, "read");
  stage.effects();
  stage.core.release(x, a, true);
  stage.call(reader, a); // sees what x changed
  stage.effects();
  stage.finish(reader); // open, because of x
  const writer = stage.request("w4", stage.root);
  stage.effects();
  stage.core.release(y, b, true);
  stage.call(writer, b); // sees what y changed
  stage.effects();
  stage.finish(y, { failed: true });
  assert.deepEqual(stage.effects(), ["undo w4", "undo y1", "enter w4 root", "append y1", "settle y1"]);
  stage.finish(writer);
  assert.deepEqual(
    stage.effects(),
    [],
    "the writer waits for the reader, which needs the root as it was before it",
  );
  stage.finish(x, { failed: true });
  assert.deepEqual(stage.effects(), [
    "undo w4",
    "undo r3",
    "undo x2",
    "enter r3 root",
    "append x2",
    "settle x2",
  ]);
});

test("whoever enters after an event above has finished depends on it while it may be started again", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const first = stage.request("e1", a);
  const above = stage.request("e2", stage.root);
  stage.effects();
  stage.core.release(first, a, true);
  stage.call(above, a); // sees what the first changed
  stage.effects();
  const later = stage.request("e3", b);
  stage.finish(above);
  assert.deepEqual(stage.effects(), ["enter e3 b"]);
  stage.finish(later);
  assert.deepEqual(stage.effects(), [], "next time, the one above may want b as it was");
  stage.finish(first, { failed: true });
  assert.deepEqual(stage.effects(), [
    "undo e3",
    "undo e2",
    "undo e1",
    "enter e2 root",
    "append e1",
    "settle e1",
  ]);
  stage.call(above, b);
  assert.deepEqual(stage.effects(), ["enter e2 b"]);
  stage.finish(above);
  assert.deepEqual(stage.effects(), ["enter e3 b", "append e2", "settle e2"]);
});

test("a view is taken again when an event above it is, though that one had not been there", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const below = stage.place("below", b);
  const first = stage.request("e1", a);
  const above = stage.request("e2", stage.root);
  stage.effects();
  stage.core.release(first, a, true);
  stage.call(above, a);
  stage.effects();
  stage.request("e3", below, "write", [b]);
  stage.finish(above);
  assert.deepEqual(stage.effects(), ["view e3 b", "enter e3 below"]);
  stage.finish(first, { failed: true });
  stage.effects();
  stage.call(above, b);
  assert.deepEqual(stage.effects(), ["enter e2 b"]);
  stage.finish(above);
  assert.deepEqual(stage.effects(), ["view e3 b", "enter e3 below", "append e2", "settle e2"]);
});

/** An event below the root, restarted so often that it is cautious; its view of the root saw a writer that is running. */
function cautiousWithView() {
  const stage = new Stage();
  const leaf = stage.place("leaf");
  const writer = stage.request("w1", stage.root);
  stage.effects();
  stage.core.release(writer, stage.root, true);
  stage.call(writer, leaf);
  stage.core.release(writer, leaf, true);
  const failing = Array.from({ length: OPTIMISTIC_TRIES }, (_, i) => stage.request(`f${i + 2}`, leaf));
  const cautious = stage.request("e5", leaf, "write", [stage.root]);
  for (const [done, next] of failing.entries()) {
    for (const event of failing.slice(done)) stage.core.release(event, leaf, true);
    stage.effects();
    assert.equal(cautious.status, "running");
    stage.finish(next, { failed: true });
  }
  stage.effects();
  assert.equal(cautious.attempt, OPTIMISTIC_TRIES + 1);
  assert.equal(cautious.status, "waiting", "a cautious event waits for the writer that its view saw");
  return { stage, writer, failing, cautious };
}

test("a cautious event keeps what its view saw, and starts when the writer that it saw is appended", () => {
  const { stage, writer, cautious } = cautiousWithView();
  stage.finish(writer);
  const effects = stage.effects();
  assert.ok(effects.includes("enter e5 leaf"), effects.join());
  assert.ok(!effects.includes("view e5 root"), effects.join());
  stage.finish(cautious);
  assert.deepEqual(stage.effects(), ["append e5", "settle e5"]);
});

test("a cautious event whose view saw a writer that fails takes the view again and is not restarted", () => {
  const { stage, writer, failing, cautious } = cautiousWithView();
  stage.finish(writer, { failed: true });
  assert.deepEqual(stage.effects(), [
    "undo f4",
    "undo f3",
    "undo f2",
    "undo w1",
    "view e5 root",
    "enter f2 leaf",
    "append w1",
    "settle w1",
  ]);
  for (const event of failing) {
    assert.equal(cautious.status, "waiting");
    stage.finish(event);
    stage.effects();
  }
  assert.equal(cautious.status, "running");
  assert.equal(cautious.attempt, OPTIMISTIC_TRIES + 1);
  stage.finish(cautious);
  assert.deepEqual(stage.effects(), ["append e5", "settle e5"]);
});

test("a later writer waits for the view that a cautious event takes again", () => {
  const { stage, writer, failing, cautious } = cautiousWithView();
  const later = stage.request("w6", stage.root);
  assert.deepEqual(stage.effects(), ["enter w6 root"], "the view was taken before");
  stage.core.retract(writer); // takes back what the view has seen, and goes on
  assert.equal(stage.effects().includes("undo w6"), true);
  assert.equal(later.status, "waiting", "the view is still to be taken again");
  stage.finish(writer);
  const effects = stage.effects();
  assert.ok(effects.indexOf("view e5 root") < effects.indexOf("enter w6 root"), effects.join());
  for (const event of [...failing, cautious, later]) {
    assert.equal(event.status, "running", event.payload);
    stage.finish(event);
    stage.effects();
  }
  assert.equal(cautious.attempt, OPTIMISTIC_TRIES + 1);
  assert.ok(stage.core.isQuiet);
});

test("messages from another logical node are taken once and in the order of their numbers", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const message = (name: string, place: typeof a) => ({
    place,
    mode: "write" as const,
    views: [],
    payload: name,
  });
  stage.core.deliver("other", 2, message("m2", b));
  assert.deepEqual(stage.effects(), []);
  stage.core.deliver("other", 1, message("m1", a));
  stage.core.deliver("other", 1, message("m1", a));
  stage.core.deliver("other", 2, message("m2", b));
  stage.core.deliver("third", 1, message("n1", stage.place("c")));
  assert.deepEqual(stage.effects(), ["enter m1 a", "enter m2 b", "enter n1 c"]);
});

test("an event with many unfinished ones elsewhere in the tree decides as fast as alone", () => {
  // Looks, not seconds: each decision asks each place on its path for its queues, and no other place.
  const stage = new Stage();
  let looks = 0;
  const watched = (name: string, parent = stage.root) => {
    const place = stage.place(name, parent);
    return new Proxy(place, {
      get(target, field) {
        looks += 1;
        return Reflect.get(target, field) as unknown;
      },
    });
  };
  const alone = watched("alone");
  stage.request("first", alone);
  const looksAlone = looks;
  for (let i = 0; i < 1000; i++) stage.request(`other ${i}`, stage.place(`elsewhere ${i}`));
  looks = 0;
  stage.request("second", watched("crowded"));
  assert.equal(looks, looksAlone);
});

test("an event that keeps others out of some contexts is in nobody's way in the others", () => {
  const stage = new Stage();
  const [a, b] = [stage.place("a"), stage.place("b")];
  const below = stage.place("below b", b);
  const spares = (place: typeof a) => place === b || place === below;
  const move = stage.core.request({ place: stage.root, mode: "write", views: [], payload: "move", spares });
  stage.request("e2", a);
  const [third, fourth] = [stage.request("e3", b), stage.request("e4", below, "read")];
  assert.deepEqual(stage.effects(), ["enter move root", "enter e3 b"]);
  stage.finish(third);
  assert.deepEqual(stage.effects(), ["enter e4 below b", "append e3", "settle e3"]);
  stage.finish(fourth);
  assert.deepEqual(stage.effects(), ["append e4", "settle e4"]);
  stage.request("e5", stage.root);
  assert.deepEqual(stage.effects(), []);
  stage.finish(move);
  assert.deepEqual(stage.effects(), ["enter e2 a", "enter e5 root", "append move", "settle move"]);
});
