import assert from "node:assert/strict";
import { test } from "node:test";
import { AnonymousContext, Context, type ContextClass, readonly } from "headwater";
import { addressAbove } from "#src/model/context.js";
import { inspectTree, shapeOf } from "#src/model/shape.js";
import { Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

const shape = (cls: unknown) => shapeOf(cls as ContextClass);

class Room extends Context<number> {
  chairs = 4;
}
class Hall extends Context {}
class House extends Context {
  street = "Elm";
  rooms = this.children(Room);
  floors: number | undefined;
  hall = this.child(Hall);
  get size() {
    return 3;
  }
  paint(colour: string) {
    return colour;
  }
  @readonly look() {}
}
class Villa extends House {
  pool = true;
  override paint(colour: string) {
    return `shiny ${colour}`;
  }
  swim() {}
}

test("a shape tells state, children and methods apart", () => {
  const house = shape(House);
  assert.deepEqual(house.fields, ["street", "floors"]);
  assert.deepEqual(
    house.slots.map(({ field, single, cls }) => ({ field, single, cls: cls as unknown })),
    [
      { field: "rooms", single: false, cls: Room },
      { field: "hall", single: true, cls: Hall },
    ],
  );
  assert.deepEqual([...house.methods.keys()], ["paint", "look"]);
  assert.equal(house.methods.get("paint")?.label, "House.paint");
  assert.equal(house.anonymous, false);
});

test("a class that extends another context class has the fields, children and methods of both", () => {
  const villa = shape(Villa);
  assert.deepEqual(villa.fields, ["street", "floors", "pool"]);
  assert.deepEqual(villa.slots.map((slot) => slot.field), ["rooms", "hall"]); // biome-ignore format: short
  assert.deepEqual([...villa.methods.keys()].sort(), ["look", "paint", "swim"]);
  assert.equal(villa.methods.get("paint")?.body, Villa.prototype.paint as unknown);
  assert.equal(villa.methods.get("look")?.readonly, true);
});

test("a class is inspected once", () => {
  assert.equal(shape(House), shape(House));
});

test("the nearest context of a class, or of a class derived from it, is found at or above an address", () => {
  class Street extends Context {
    villas = this.child(Villa);
  }
  const street = Place.root(Street);
  const [villas] = street.shape.slots;
  assert.ok(villas !== undefined);
  const villa = street.child(villas, undefined);
  const [rooms] = villa.shape.slots;
  assert.ok(rooms !== undefined);
  const room = villa.child(rooms, 1);
  const above = (cls: unknown) => addressAbove(room, cls as ContextClass);
  assert.equal(above(Room), room);
  assert.equal(above(House), villa);
  assert.equal(above(Street), street);
  refusedAtOnce(() => above(Hall), "HW-1014", "Street.villas.rooms(1)", "Hall");
});

test("what is not a context class is refused", () => {
  refusedAtOnce(() => shape(class Plain {}), "HW-1017", "not a class that extends Context");
  refusedAtOnce(() => shape({ rooms: 1 }), "HW-1017");
  refusedAtOnce(() => shape(undefined), "HW-1017", "undefined");
});

test("a context cannot be made by hand", () => {
  refusedAtOnce(() => new Hall(), "HW-1016", "new Hall()");
});

test("children must be kept in a field", () => {
  class Careless extends Context {
    constructor() {
      super();
      this.children(Room);
    }
  }
  refusedAtOnce(() => shape(Careless), "HW-1017", "Careless");
});

test("children cannot be declared in a method", () => {
  class Late extends Context {
    open() {
      return this.children(Room);
    }
  }
  const late = Context.construct(Place.root(Late)) as unknown as Late;
  refusedAtOnce(() => late.open(), "HW-1017", "Late");
});

test("children must be the same each time a context is made", () => {
  let times = 0;
  class Moody extends Context {
    first = times++ === 0 ? this.children(Room) : this.children(House as unknown as ContextClass<Room>);
  }
  const place = Place.root(Moody);
  refusedAtOnce(() => Context.construct(place), "HW-1017", "Moody");
});

test("children cannot be used by a field initialiser", () => {
  class Hasty extends Context {
    rooms = this.children(Room);
    name = String(this.rooms(1));
  }
  refusedAtOnce(() => shape(Hasty), "HW-1017", "Hasty");
});

test("a method cannot be named then: awaiting a reference would call it", () => {
  class Eager extends Context {
    // biome-ignore lint/suspicious/noThenProperty: this is the mistake that is refused.
    then() {}
  }
  refusedAtOnce(() => shape(Eager), "HW-1017", "Eager", '"then"');
});

test("what is declared as a child must be a class", () => {
  class Odd extends Context {
    rooms = this.children(undefined as unknown as ContextClass<Room>);
  }
  refusedAtOnce(() => shape(Odd), "HW-1017", "Odd");
});

test("a malformed class deep in the tree is found before anything runs", () => {
  class Wrong extends AnonymousContext {
    count = 0;
  }
  class Middle extends Context<string> {
    wrong = this.child(Wrong);
  }
  class Top extends Context {
    middles = this.children(Middle);
  }
  refusedAtOnce(() => inspectTree(Top as unknown as ContextClass), "HW-1013", "Wrong", "count");
});

test("a tree may contain itself, and classes whose fields need a key", () => {
  class Folder extends Context<string> {
    path = `/${this.key}`;
    folders = this.children(Folder as ContextClass<Folder>) as unknown;
  }
  class Disk extends Context {
    folders = this.children(Folder);
  }
  inspectTree(Disk as unknown as ContextClass);
  const disk = Place.root(Disk);
  const [slot] = disk.shape.slots;
  assert.ok(slot !== undefined);
  const folder = disk.child(slot, "home");
  assert.deepEqual(folder.shape.fields, ["path"]);
  const [below] = folder.shape.slots;
  assert.ok(below !== undefined);
  assert.equal(String(folder.child(below, "ada")), 'Disk.folders("home").folders("ada")');
});

test("an anonymous context has neither state nor children", () => {
  class Adder extends AnonymousContext {
    add(a: number, b: number) {
      return a + b;
    }
  }
  class Holder extends AnonymousContext {
    rooms = this.children(Room);
  }
  assert.equal(shape(Adder).anonymous, true);
  assert.deepEqual([...shape(Adder).methods.keys()], ["add"]);
  refusedAtOnce(() => shape(Holder), "HW-1013", "Holder", "rooms");
});

test("a context that no event runs in can be asked for nothing", async () => {
  class Quiet extends Context {
    rooms = this.children(Room);
    later() {
      this.event.send("ada", 1);
    }
    release() {
      this.downgrade();
    }
  }
  const quiet = Context.construct(Place.root(Quiet)) as unknown as Quiet;
  refusedAtOnce(() => quiet.later(), "HW-1008", "this.event", "Quiet");
  refusedAtOnce(() => quiet.release(), "HW-1008", "this.downgrade()", "Quiet");
});
