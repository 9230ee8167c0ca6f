import type { Random } from "../../random.js";
import {
  BROKEN_RULES,
  type Draft,
  drawExpr,
  drawIf,
  drawList,
  drawTell,
  drawThrow,
  EFFECTS_MAX,
  type Facts,
  FRAMES_MAX,
  LOOKING,
  NESTING_MAX,
} from "./draft.js";
import type { DrawnKind, ProgramProfile } from "./profile.js";
import type { CallSpec, ClassSpec, MethodSpec, Op, PathStep, ProgramSpec, WholeOp } from "./program.js";
import { classesAbove, nodeOf, parentsOf, type Reachable, reachableFrom } from "./reach.js";

/** Writes the bodies of methods: mostly programs that keep the rules, now and then one that does not. */
export class BodyWriter {
  readonly #facts = new Map<MethodSpec, Facts>();
  /** Per class, the classes that are above it on every way from the root. */
  readonly #above: readonly (readonly number[])[];
  /** Per logical node, what can be reached from its root. */
  readonly #reachable: readonly (readonly Reachable[])[];
  /** Where the last call went: the next one often goes to the same context, or above or below it. */
  #last: readonly PathStep[] = [];

  constructor(
    readonly random: Random,
    readonly profile: ProgramProfile,
    readonly spec: ProgramSpec,
  ) {
    this.#above = classesAbove(spec);
    this.#reachable = spec.nodes.map(({ root }) => {
      const cls = spec.classes[root] as ClassSpec;
      return [{ cls, slots: [] }, ...reachableFrom(spec, cls)];
    });
  }

  writeMethods(index: number): void {
    const cls = this.spec.classes[index] as ClassSpec;
    const below = reachableFrom(this.spec, cls);
    for (const method of cls.methods) {
      const facts: Facts = { frames: 1, effects: 0, downgrades: false, pauses: false, forks: false };
      const mayFork = this.random.chance(0.6);
      this.#write({ cls, index, method, below, facts, gaveUp: false, mayFork });
      this.#facts.set(method, facts);
    }
  }

  #write(draft: Draft): void {
    const { random, profile } = this;
    const { method, index, cls } = draft;
    this.#last = [];
    const above = this.#above[index] ?? [];
    if (profile.reads && above.length > 0 && random.chance(0.4)) method.reads.push(random.pick(above));
    const fields = cls.fields.filter(({ kind }) => kind !== "timer");
    if (fields.length > 0 && random.chance(0.2)) method.returns = random.pick(fields).name;
    const givesUpFirst = !method.readonly && !cls.anonymous && random.chance(profile.downgradeFirst);
    if (givesUpFirst) this.#beginByGivingUp(draft);
    if (random.chance(profile.light)) this.#writeLight(draft);
    else for (let i = random.int(profile.opsMax); i >= 0; i--) this.#add(draft, method.body, 0);
    if (givesUpFirst && random.chance(profile.failLate))
      method.body.push(drawIf(this.random, [drawThrow(this.random)]));
  }

  /** Most events of a service are small, and orders are tried out faster with small ones. */
  #writeLight(draft: Draft): void {
    const { method, cls } = draft;
    method.async = false;
    const change = method.readonly ? null : this.#change(draft);
    if (change !== null) method.body.push(change);
    const [field] = cls.fields;
    if (field !== undefined) method.body.push({ op: "get", field: field.name });
  }

  /** What others get to see early: a change, then the context is given up, and time passes. */
  #beginByGivingUp(draft: Draft): void {
    const { body } = draft.method;
    for (let changes = this.random.int(3); changes > 0; changes--) {
      const change = this.#change(draft);
      if (change !== null) body.push(change);
    }
    body.push({ op: "downgrade" });
    if (this.random.chance(0.5)) {
      body.push({ op: "pause", units: 1 + this.random.int(2) });
      draft.facts.pauses = true;
    }
    draft.gaveUp = true;
    draft.facts.downgrades = true;
  }

  #add(draft: Draft, into: Op[], nesting: number): void {
    for (let tries = 0; tries < 4; tries++) {
      const op = this.#draw(draft, this.profile.kind(this.random), nesting);
      if (op !== null) return void into.push(op);
    }
  }

  #block(draft: Draft, nesting: number): Op[] {
    const body: Op[] = [];
    const count = 1 + this.random.int(3);
    for (let i = 0; i < count; i++) this.#add(draft, body, nesting + 1);
    return body;
  }

  /** An operation of this kind, or null if it makes no sense here. */
  #draw(draft: Draft, kind: DrawnKind, nesting: number): Op | null {
    const { random } = this;
    const { cls, facts } = draft;
    switch (kind) {
      case "change":
        return this.#change(draft);
      case "get": {
        if (cls.fields.length === 0) return null;
        return { op: "get", field: random.chance(0.3) ? null : random.pick(cls.fields).name };
      }
      case "forget": {
        const call = this.#call(draft);
        return call === null ? null : { op: kind, call, followedUp: random.chance(0.5) };
      }
      case "family":
        return this.#family(draft);
      case "call":
      case "pass": {
        const call = this.#call(draft);
        return call === null ? null : { op: kind, call };
      }
      case "par":
        return this.#parallel(draft);
      case "branches":
        return nesting >= NESTING_MAX ? null : this.#branches(draft, nesting);
      case "during":
        return nesting >= NESTING_MAX ? null : this.#during(draft, nesting);
      case "breathe":
        return { op: "breathe", turns: 1 + random.int(4) };
      case "own":
        return this.#own(draft);
      case "list":
      case "delete":
        return this.#whole(draft, kind);
      case "try":
        return nesting >= NESTING_MAX ? null : { op: "try", body: this.#block(draft, nesting) };
      case "if":
        return nesting >= NESTING_MAX ? null : drawIf(this.random, this.#block(draft, nesting));
      case "throw":
        return random.chance(0.1) ? drawThrow(this.random) : drawIf(this.random, [drawThrow(this.random)]);
      case "downgrade":
        return this.#downgrade(draft);
      case "start":
        return this.#start(draft);
      case "send":
        return this.#send(draft);
      case "tell":
        return drawTell(random);
      case "timer":
        return this.#timer(draft);
      case "outside": {
        if (facts.effects >= EFFECTS_MAX) return null;
        facts.effects += 1;
        const { at, methods } = this.#atOrAbove(draft);
        const into = random.chance(0.8) ? random.pick(methods).name : null;
        return { op: "outside", value: drawExpr(this.random), into, at };
      }
      case "cancel": {
        const field = cls.fields.find((known) => known.kind === "timer");
        return field === undefined || this.#mayNotWrite(draft) ? null : { op: "cancel", field: field.name };
      }
      case "read":
        return this.#read(draft);
      case "know":
        return { op: "know" };
      case "pause":
        if (draft.mayFork) return null;
        facts.pauses = true;
        return { op: "pause", units: 1 };
      case "stray": {
        facts.frames += 1;
        const target = random.pick(this.#reachable[nodeOf(this.spec, draft.index)] ?? []);
        return { op: "stray", call: this.#callOf(target, random.pick(target.cls.methods)) };
      }
      case "store":
        return cls.fields.length === 0 ? null : { op: "store", field: random.pick(cls.fields).name };
      case "break":
        return { op: "break", rule: random.pick(BROKEN_RULES) };
    }
  }

  /** Would a change break a rule here? Seldom says no though it would. */
  #mayNotWrite({ method, gaveUp }: Draft): boolean {
    return (method.readonly || gaveUp) && !this.random.chance(this.profile.violations);
  }

  #change(draft: Draft): Op | null {
    const fields = draft.cls.fields.filter(({ kind }) => kind !== "timer");
    if (fields.length === 0 || this.#mayNotWrite(draft)) return null;
    const { name } = this.random.pick(fields);
    return { op: "change", field: name, drop: this.random.chance(0.25), value: drawExpr(this.random) };
  }

  #downgrade(draft: Draft): Op | null {
    const { method, cls } = draft;
    if (cls.anonymous || (method.readonly && !this.random.chance(this.profile.violations))) return null;
    draft.gaveUp = true;
    draft.facts.downgrades = true;
    return this.random.chance(0.2) ? drawIf(this.random, [{ op: "downgrade" }]) : { op: "downgrade" };
  }

  #timer(draft: Draft): Op | null {
    const { random } = this;
    const { cls, facts } = draft;
    if (facts.effects >= EFFECTS_MAX || cls.anonymous || this.#mayNotWrite(draft)) return null;
    facts.effects += 1;
    const keep = cls.fields.find(({ kind }) => kind === "timer")?.name ?? null;
    const { at, methods } = this.#atOrAbove(draft);
    return {
      op: "timer",
      at,
      ms: random.pick([0, 1, 5, 40]),
      method: random.pick(methods).name,
      args: [drawExpr(random), drawExpr(random)],
      keep: random.chance(0.7) ? keep : null,
      ...(random.chance(0.04) ? { count: random.pick([20, 20, 200]) } : {}),
    };
  }

  /** Where a timer or an outside result may start its event: here, or in a context above. */
  #atOrAbove({ cls, index }: Draft): { at: number | null; methods: readonly MethodSpec[] } {
    const above = this.#above[index] ?? [];
    if (above.length === 0 || !this.random.chance(0.4)) return { at: null, methods: cls.methods };
    const at = this.random.pick(above);
    return { at, methods: this.spec.classes[at]?.methods ?? [] };
  }

  /** Undeclared contexts may be read only if the event came from there. */
  #read({ index, method }: Draft): Op | null {
    const { random } = this;
    const above = this.#above[index] ?? [];
    const isDeclared = method.reads.length > 0 && random.chance(0.9);
    if (above.length === 0 || (!isDeclared && random.chance(0.5))) return null;
    return { op: "read", cls: random.pick(isDeclared ? method.reads : above) };
  }

  #call(draft: Draft): CallSpec | null {
    if (draft.below.length === 0) return null;
    for (let tries = 0; tries < 3; tries++) {
      const target = this.random.pick(draft.below);
      const method = this.random.pick(target.cls.methods);
      if (this.#mayCall(draft, method)) return this.#callOf(target, method);
    }
    return null;
  }

  /** Counts the call in if it is neither too dear nor sure to break a rule. */
  #mayCall({ facts, method, gaveUp }: Draft, called: MethodSpec): boolean {
    const cost = this.#facts.get(called) as Facts;
    const breaksRule = (method.readonly && !called.readonly) || (cost.downgrades && !gaveUp);
    if (breaksRule && !this.random.chance(this.profile.violations + 0.05)) return false;
    if (facts.frames + cost.frames > FRAMES_MAX || facts.effects + cost.effects > EFFECTS_MAX) return false;
    facts.frames += cost.frames;
    facts.effects += cost.effects;
    return true;
  }

  #parallel(draft: Draft): Op | null {
    const calls: CallSpec[] = [];
    for (let tries = 2 + this.random.int(3); tries > 0; tries--) {
      const call = this.#call(draft);
      if (call !== null) calls.push(call);
    }
    if (calls.length < 2) return null;
    const wanted = this.random.pick(["list", "delete"] as const);
    const also = this.profile.whole && this.random.chance(0.6) ? this.#whole(draft, wanted, calls[0]) : null;
    return { op: "par", calls, hasty: this.random.chance(0.4), also };
  }

  /** Often of what the call is about that is made just before. */
  #whole(draft: Draft, wanted: WholeOp["op"], call?: CallSpec): WholeOp | null {
    const { random } = this;
    const { cls, below, method, gaveUp, facts } = draft;
    if (below.length === 0 || facts.frames >= FRAMES_MAX) return null;
    if ((gaveUp || (wanted === "delete" && method.readonly)) && !random.chance(this.profile.violations + 0.2))
      return null;
    facts.frames += 1;
    const near = random.chance(0.7) ? (call?.path ?? []) : [];
    if (wanted === "delete") {
      if (near.length > 0) return { op: "delete", path: near.slice(0, 1 + random.int(near.length)) };
      const target = random.pick(below);
      return { op: "delete", path: this.#callOf(target, random.pick(target.cls.methods)).path };
    }
    return drawList(random, cls, near[0]?.field);
  }

  /** Calls of a context, of one above it, and of the first one again, which may look at the other or give itself up. */
  #family(draft: Draft): Op | null {
    const { random } = this;
    const deep = draft.below.filter(({ slots }) => slots.length > 1);
    if (deep.length === 0) return null;
    const lower = random.pick(deep);
    const upper = draft.below.filter(({ slots }) => slots.every((slot, i) => slot === lower.slots[i]));
    const body: Op[] = [];
    for (const { cls, slots } of [lower, random.pick(upper), lower]) {
      const looking = cls.methods.filter(({ body: ops }) => ops.some(({ op }) => LOOKING.has(op)));
      const method = random.pick(looking.length > 0 && random.chance(0.7) ? looking : cls.methods);
      if (this.#mayCall(draft, method))
        body.push({ op: "call", call: this.#callOf({ cls, slots }, method, true) });
    }
    return body.length < 2 ? null : { op: "try", body };
  }

  #branches(draft: Draft, nesting: number): Op | null {
    const { random, profile } = this;
    if (!draft.mayFork) return null;
    draft.facts.forks = true;
    const branches = Array.from({ length: 2 + random.int(2) }, () => this.#block(draft, nesting));
    const mayForget = random.chance(profile.violations);
    const join = mayForget
      ? "none"
      : random.pick(["all", "all", "allSettled", "allSettled", "race", "any"] as const);
    if (join !== "none") return { op: "branches", join, branches };
    // Code that waits for no call would not be awaited.
    const calls = branches.flatMap((body): Op[][] => {
      const call = this.#call(draft);
      return call === null ? [] : [[{ op: "call", call }, ...body]];
    });
    return calls.length === 0 ? null : { op: "branches", join, branches: calls };
  }

  #during(draft: Draft, nesting: number): Op | null {
    const { random } = this;
    const call = this.#call(draft);
    if (call === null) return null;
    const forks = draft.mayFork ? random.int(3) : 0;
    if (forks > 0) draft.facts.forks = true;
    return { op: "during", call, forks, body: this.#block(draft, nesting) };
  }

  /** Only methods that were written before: no method comes back to itself. */
  #own(draft: Draft): Op | null {
    const { random, profile } = this;
    const { cls, method, mayFork, facts } = draft;
    const written = cls.methods.filter((each) => this.#facts.has(each) && each !== method);
    if (written.length === 0) return null;
    const called = random.pick(written);
    const cost = this.#facts.get(called) as Facts;
    if ((cost.pauses && mayFork) || (cost.forks && !mayFork) || !this.#mayCall(draft, called)) return null;
    facts.pauses ||= cost.pauses;
    facts.forks ||= cost.forks;
    facts.downgrades ||= cost.downgrades;
    draft.gaveUp ||= cost.downgrades;
    const awaited = !called.async || !random.chance(profile.violations);
    return { op: "own", method: called.name, args: [drawExpr(this.random), drawExpr(this.random)], awaited };
  }

  #callOf({ slots }: Reachable, method: MethodSpec, isAlong = this.random.chance(0.5)): CallSpec {
    const along = isAlong ? this.#last : [];
    const path = slots.map(({ name, style, keys }, i): PathStep => {
      const before = along[i];
      if (before?.field === name) return before;
      return { field: name, style, keys, key: keys === 1 ? 0 : drawExpr(this.random) };
    });
    this.#last = path;
    return { path, method: method.name, args: [drawExpr(this.random), drawExpr(this.random)] };
  }

  #start({ below, facts, index }: Draft): Op | null {
    const { random } = this;
    if (facts.effects >= EFFECTS_MAX) return null;
    facts.effects += 1;
    const parents = parentsOf(this.spec, index);
    if (parents.length === 1 && random.chance(0.2)) {
      const [parent] = parents as [ClassSpec];
      return {
        op: "start",
        from: "parent",
        call: this.#callOf({ cls: parent, slots: [] }, random.pick(parent.methods)),
      };
    }
    const fromSelf = below.length > 0 && random.chance(0.3);
    const target = random.pick(fromSelf ? below : (this.#reachable[nodeOf(this.spec, index)] ?? []));
    const call = this.#callOf(target, random.pick(target.cls.methods));
    return { op: "start", from: fromSelf ? "self" : "root", call };
  }

  #send({ facts, index }: Draft): Op | null {
    const { random, spec } = this;
    const node = random.int(spec.nodes.length);
    if (facts.effects >= EFFECTS_MAX || node === nodeOf(this.spec, index)) return null;
    facts.effects += 1;
    const target = random.pick(this.#reachable[node] ?? []);
    return { op: "send", node, call: this.#callOf(target, random.pick(target.cls.methods)) };
  }

  /** The classes that have this one as a child. */
}
